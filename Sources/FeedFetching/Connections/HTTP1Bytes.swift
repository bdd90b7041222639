import NIOCore

/// A handler between a socket, or its TLS, and the HTTP/1 codec. Carries validators byte for byte, and detects a
/// connection that is closed without an answer.
final class HTTP1Bytes: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var validators = ValidatorBytes()
    private var requests = 0
    private var waitsForAnswer = false
    private var hasValidatorsToSend = false
    /// True from the end of an answer until the next request.
    private var isIdle = false

    /// True if the connection has served an earlier request.
    var isReused: Bool { requests > 1 }

    /// Prepares for a request whose head is about to be written.
    func begin(withValidators hasValidators: Bool) {
        isIdle = false
        requests += 1
        waitsForAnswer = true
        hasValidatorsToSend = hasValidators
        validators.expectHead()
    }

    /// Notes that the answer is complete.
    func end() { isIdle = true }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waitsForAnswer = false
        // Without a request, further bytes would be taken for the next answer. An extra empty line is allowed (RFC
        // 9112, section 2.2).
        if isIdle, unwrapInboundIn(data).readableBytesView.contains(where: { $0 != 0x0D && $0 != 0x0A }) {
            return context.close(promise: nil)
        }
        context.fireChannelRead(wrapInboundOut(validators.receive(unwrapInboundIn(data))))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard hasValidatorsToSend, case .byteBuffer(let head) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        hasValidatorsToSend = false
        context.write(wrapOutboundOut(.byteBuffer(ValidatorBytes.send(head))), promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error is IOError && isClosedBeforeAnswer() ? AnswerError.closedBeforeAnswer : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isClosedBeforeAnswer() { context.fireErrorCaught(AnswerError.closedBeforeAnswer) }
        context.fireChannelInactive()
    }

    /// Returns true if the connection has served an earlier request and no byte of this answer has come.
    private func isClosedBeforeAnswer() -> Bool {
        defer { waitsForAnswer = false }
        return waitsForAnswer && isReused
    }
}

/// Carries the validators of an HTTP/1 head byte for byte through libraries that treat header fields as UTF-8. Each
/// byte is decoded as ISO 8859-1, and encoded so before it is sent.
struct ValidatorBytes {
    private enum Place {
        /// At a byte of the status line.
        case statusLine(Int)
        case name
        case value(isValidator: Bool)
        case body
    }

    private static let received: Set = [Array("etag".utf8), Array("last-modified".utf8)]
    private static let sent: Set = ["if-none-match", "if-modified-since"]
    private static let longestName = 13

    private var place = Place.statusLine(0)
    private var name: [UInt8] = []
    private var isInterim = false

    /// Returns the bytes of a text in ISO 8859-1; nil if a character is not in it.
    private static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// Returns true if a request's field is a validator.
    static func isSent(_ name: String) -> Bool { sent.contains(name.lowercased()) }

    /// Treats the next bytes as the head of an answer.
    mutating func expectHead() {
        place = .statusLine(0)
        isInterim = false
    }

    /// Returns an answer's bytes with the validators in UTF-8.
    mutating func receive(_ bytes: ByteBuffer) -> ByteBuffer {
        if case .body = place { return bytes }
        var changed: ByteBuffer?
        for (index, byte) in bytes.readableBytesView.enumerated() {
            if case .body = place {
                changed?.writeBytes(bytes.readableBytesView.dropFirst(index))
                break
            }
            if case .value(isValidator: true) = place, byte >= 0x80 {
                if changed == nil { changed = bytes.getSlice(at: bytes.readerIndex, length: index) }
                changed?.writeBytes([0xC0 | byte >> 6, 0x80 | byte & 0x3F])
            } else {
                changed?.writeInteger(byte)
                take(byte)
            }
        }
        return changed ?? bytes
    }

    private mutating func take(_ byte: UInt8) {
        let isEnd = byte == UInt8(ascii: "\n")
        switch place {
        case .statusLine(let position):
            if position == 0, isEnd || byte == UInt8(ascii: "\r") { return }
            // HTTP/1.1 103
            if position == 9 { isInterim = byte == UInt8(ascii: "1") }
            place = isEnd ? .name : .statusLine(position + 1)
            if isEnd { name = [] }
        case .name:
            if isEnd {
                // The empty line after the fields.
                place = isInterim ? .statusLine(0) : .body
                isInterim = false
            } else if byte == UInt8(ascii: ":") {
                place = .value(isValidator: Self.received.contains(name))
            } else if byte != UInt8(ascii: "\r"), name.count <= Self.longestName {
                name.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
            }
        case .value:
            if isEnd {
                name = []
                place = .name
            }
        case .body: break
        }
    }

    /// Returns a request's head with the validators in their original bytes.
    static func send(_ head: ByteBuffer) -> ByteBuffer {
        var bytes = ByteBuffer()
        bytes.reserveCapacity(head.readableBytes)
        for line in head.readableBytesView.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if bytes.writerIndex > 0 { bytes.writeInteger(UInt8(ascii: "\n")) }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            if isSent(String(decoding: name, as: UTF8.self)),
                let value = Self.bytes(of: String(decoding: line, as: UTF8.self))
            {
                bytes.writeBytes(value)
            } else {
                bytes.writeBytes(line)
            }
        }
        return bytes
    }
}
