import CZlib

/// zlib's `deflate` over pieces of a stream, without header or checksum (RFC 1951).
final class Deflater {
    private var stream = z_stream()
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    /// - Parameter compresses: false to store the bytes as they are.
    init(compresses: Bool = true) throws {
        let code = tributary_deflate_init_raw(&stream, compresses ? 1 : 0)
        guard code == Z_OK else { throw FetchError(.decoding, "the body cannot be compressed: zlib error \(code)") }
    }

    deinit {
        deflateEnd(&stream)
        output.deallocate()
    }

    /// Compresses the bytes, and passes the output to `body`.
    func deflate(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard let base = bytes.baseAddress else { return }
        // zlib declares its input as mutable and does not change it.
        stream.next_in = UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = UInt32(bytes.count)
        try run(Z_NO_FLUSH, body)
    }

    /// Passes the rest to `body`, and resets for other data.
    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        stream.avail_in = 0
        try run(Z_FINISH, body)
        deflateReset(&stream)
    }

    private func run(_ flush: Int32, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        repeat {
            stream.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.avail_out = UInt32(output.count)
            // It fails only on wrong use, or without input.
            _ = CZlib.deflate(&stream, flush)
            let count = output.count - Int(stream.avail_out)
            if count > 0 { try body(UnsafeRawBufferPointer(rebasing: output[..<count])) }
        } while stream.avail_out == 0
    }
}
