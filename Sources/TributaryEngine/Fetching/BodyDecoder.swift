import CZlib

/// Undoes `gzip` and `deflate`, whether the transport declares them or the body is a `.gz` file, and counts what comes
/// out against the limit: a small body may hold a large one.
final class BodyDecoder {
    private enum Coding {
        case undecided([UInt8])
        case identity
        case compressed
    }

    private let limit: Int
    private let isDeflate: Bool
    private var coding = Coding.undecided([])
    private var stream = z_stream()
    private var isStreamOpen = false
    private var isMemberComplete = false
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    /// Bytes that have come out so far.
    private(set) var count = 0

    /// - Parameter contentEncoding: the header's value, where there is one (RFC 9110, section 8.4).
    init(contentEncoding: String?, limit: Int) throws {
        self.limit = limit
        let codings = (contentEncoding ?? "").lowercased().split(separator: ",").map { $0.filter { !$0.isWhitespace } }
            .filter { $0 != "identity" && !$0.isEmpty }
        guard codings.count <= 1, codings.allSatisfy({ ["gzip", "x-gzip", "deflate"].contains($0) }) else {
            throw FetchError(
                .decoding, "the body's Content-Encoding '\(contentEncoding ?? "")' is neither gzip nor deflate")
        }
        isDeflate = codings.first == "deflate"
    }

    deinit {
        if isStreamOpen { inflateEnd(&stream) }
        output.deallocate()
    }

    /// Hands on what the bytes decode to, in pieces.
    func decode(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch coding {
        case .identity:
            try deliver(bytes, body)
        case .compressed:
            try inflate(bytes, body)
        case .undecided(let start):
            let start = start + bytes
            guard start.count >= 2 else { return coding = .undecided(start) }
            try decide(start)
            try start.withUnsafeBytes { try decode($0, body) }
        }
    }

    /// - Throws: ``FetchError`` where a compressed body has been cut off.
    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        if case .undecided(let start) = coding { return try start.withUnsafeBytes { try deliver($0, body) } }
        if case .compressed = coding, !isMemberComplete {
            throw FetchError(.truncated, "the compressed body ended before its last byte")
        }
    }

    /// A server may say gzip and send plain XML, or say nothing and send a `.gz` file: the first bytes decide.
    private func decide(_ start: [UInt8]) throws {
        let isGzip = start[0] == 0x1F && start[1] == 0x8B
        guard isGzip || isDeflate else { return coding = .identity }
        let isZlib = start[0] & 0x0F == 8 && (Int(start[0]) << 8 | Int(start[1])) % 31 == 0
        let code = isGzip || isZlib ? tributary_inflate_init(&stream) : tributary_inflate_init_raw(&stream)
        guard code == Z_OK else { throw FetchError(.decoding, "the body cannot be decompressed: zlib error \(code)") }
        isStreamOpen = true
        coding = .compressed
    }

    private func inflate(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard let base = bytes.baseAddress else { return }
        // zlib declares its input as mutable and does not change it.
        stream.next_in = UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = UInt32(bytes.count)
        while stream.avail_in > 0 {
            if isMemberComplete {
                // A gzip file may be several, one behind the other (RFC 1952, section 2.2).
                inflateReset(&stream)
                isMemberComplete = false
            }
            stream.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.avail_out = UInt32(output.count)
            let code = CZlib.inflate(&stream, Z_NO_FLUSH)
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                throw FetchError(
                    .decoding, "the body is not valid \(isDeflate ? "deflate" : "gzip"): zlib error \(code)")
            }
            try deliver(UnsafeRawBufferPointer(rebasing: output[..<(output.count - Int(stream.avail_out))]), body)
            isMemberComplete = code == Z_STREAM_END
            if code == Z_BUF_ERROR { break }
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        count += bytes.count
        guard count <= limit else {
            throw FetchError(.tooLarge, "the body is larger than max_body, \(ByteSize.text(limit))")
        }
        try body(bytes)
    }
}
