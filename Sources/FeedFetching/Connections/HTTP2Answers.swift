import NIOCore
import NIOHPACK
import NIOHTTP2

/// Checks answers between an HTTP/2 stream and its codec. Closes the stream on any frame that the codec or
/// async-http-client cannot handle. Carries validators byte for byte, as far as the codec allows.
final class HTTP2Answers: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let correlation: RequestCorrelation
    private let uses: HTTP2Uses?
    /// True if the connection has served an earlier request.
    private let isReused: Bool
    private var order = AnswerOrder()
    private var isOver = false
    private var hasHead = false
    private var waitsForAnswer = false
    /// The reason why the request must not be sent to the connection's address. Every write is then dropped.
    private var refusal: AddressGuard.Refusal?

    /// - Parameter uses: the uses of the stream's connection.
    init(correlation: RequestCorrelation, uses: HTTP2Uses?) {
        self.correlation = correlation
        self.uses = uses
        isReused = (uses?.begin() ?? 1) > 1
    }

    func handlerRemoved(context: ChannelHandlerContext) { uses?.end() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .headers, .data: waitsForAnswer = false
        default: break
        }
        do throws(AnswerError) {
            context.fireChannelRead(wrapInboundOut(try checked(unwrapInboundIn(data))))
        } catch {
            isOver = true
            context.fireErrorCaught(error)
            context.close(promise: nil)
        }
    }

    private func checked(_ payload: HTTP2Frame.FramePayload) throws(AnswerError) -> HTTP2Frame.FramePayload {
        switch payload {
        case .headers(var content):
            if hasHead {
                // Headers after the head are trailers, which end the body.
                guard content.endStream, !content.headers.contains(where: { $0.name.hasPrefix(":") }) else {
                    throw .order
                }
                try order.end()
                isOver = true
                return payload
            }
            let status = try Self.status(of: content.headers)
            try order.head(status: status)
            hasHead = status >= 200
            if content.endStream {
                try order.end()
                isOver = true
            }
            content.headers = Self.received(content.headers)
            return .headers(content)
        case .data(let content):
            try order.body()
            if content.endStream {
                try order.end()
                isOver = true
            }
            return payload
        default: return payload
        }
    }

    private static func status(of headers: HPACKHeaders) throws(AnswerError) -> Int {
        let values = headers.filter { $0.name == ":status" }.map(\.value)
        guard values.count == 1, values[0].utf8.count == 3, values[0].utf8.allSatisfy({ (48...57).contains($0) }),
            let status = Int(values[0])
        else { throw .status }
        return status
    }

    /// Returns the headers without validators that are not UTF-8, because the codec has lost their bytes.
    private static func received(_ headers: HPACKHeaders) -> HPACKHeaders {
        let names = ["etag", "last-modified"]
        func isOther(_ field: HPACKHeaders.Element) -> Bool {
            names.contains(field.name) && !field.value.utf8.allSatisfy { $0 < 0x80 }
        }
        guard headers.contains(where: isOther) else { return headers }
        return mapped(headers) { names.contains($0.name) ? ValidatorBytes.text(decoded: $0.value) : $0.value }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let refusal { return context.refuse(promise, refusal) }
        guard case .headers(var content) = unwrapOutboundIn(data), content.headers.contains(name: ":method") else {
            return context.write(data, promise: promise)
        }
        if let entry = content.headers.first(name: RequestCorrelation.header) {
            do throws(AddressGuard.Refusal) {
                try correlation.send(entry, to: context.channel.parent?.remoteAddress)
            } catch {
                refusal = error
                context.refuse(promise, error)
                return context.closeLater(with: error)
            }
        }
        content.headers = Self.mapped(content.headers) { field in
            if field.name == RequestCorrelation.header { return nil }
            guard ValidatorBytes.isSent(field.name) else { return field.value }
            // The codec writes UTF-8 only. Without a validator that is not UTF-8, the request is unconditional.
            return ValidatorBytes.bytes(of: field.value).flatMap { String(validating: $0, as: UTF8.self) }
        }
        order.begin()
        waitsForAnswer = true
        context.write(wrapOutboundOut(.headers(content)), promise: promise)
    }

    /// Returns the headers with new values. Drops those for which `value` returns nil.
    private static func mapped(_ headers: HPACKHeaders, _ value: (HPACKHeaders.Element) -> String?) -> HPACKHeaders {
        var mapped = HPACKHeaders()
        mapped.reserveCapacity(headers.count)
        for field in headers {
            if let value = value(field) { mapped.add(name: field.name, value: value, indexing: field.indexable) }
        }
        return mapped
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(waitsForAnswer ? lost(error) ?? error : error)
        waitsForAnswer = false
    }

    /// Returns the error of a request without an answer, which may be sent again; nil for any other error.
    private func lost(_ error: any Error) -> AnswerError? {
        switch error {
        case let error as NIOHTTP2Errors.StreamClosed where error.errorCode == .refusedStream: .refused
        case let error as NIOHTTP2Errors.StreamClosed where uses?.isUnprocessed(error.streamID) ?? false: .unprocessed
        case is NIOHTTP2Errors.CreatedStreamAfterGoaway: .unprocessed
        case is IOError where isReused, is ChannelError where isReused: .closedBeforeAnswer
        default: nil
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if waitsForAnswer, isReused { context.fireErrorCaught(AnswerError.closedBeforeAnswer) }
        waitsForAnswer = false
        context.fireChannelInactive()
    }
}
