import CZlib

/// zlib's `inflate` over pieces of a stream.
final class Inflater {
    enum Format {
        /// RFC 1952.
        case gzip
        /// RFC 1950.
        case zlib
        /// RFC 1951, without header or checksum.
        case raw
    }

    private var stream = z_stream()
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private let name: String
    let format: Format

    /// True once the last byte of the compressed data has been read.
    private(set) var isAtEnd = false

    /// - Parameter name: the data's name in errors.
    init(_ format: Format, name: String) throws {
        self.name = name
        self.format = format
        let code = format == .raw ? tributary_inflate_init_raw(&stream) : tributary_inflate_init(&stream)
        guard code == Z_OK else { throw FetchError(.decoding, "the body cannot be decompressed: zlib error \(code)") }
    }

    deinit {
        inflateEnd(&stream)
        output.deallocate()
    }

    /// Resets the state, for compressed data that follow others.
    func reset() {
        inflateReset(&stream)
        isAtEnd = false
    }

    /// Decompresses the bytes and passes the result to `body`, until the bytes are used up or the data end.
    ///
    /// - Returns: the number of bytes used.
    func inflate(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Int {
        guard let base = bytes.baseAddress, !isAtEnd else { return 0 }
        // zlib declares its input as mutable and does not change it.
        stream.next_in = UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = UInt32(bytes.count)
        while !isAtEnd {
            stream.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.avail_out = UInt32(output.count)
            let code = CZlib.inflate(&stream, Z_NO_FLUSH)
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                throw FetchError(.decoding, "the body is not valid \(name): zlib error \(code)")
            }
            try body(UnsafeRawBufferPointer(rebasing: output[..<(output.count - Int(stream.avail_out))]))
            isAtEnd = code == Z_STREAM_END
            // The next call returns output that did not fit, even without further input.
            if stream.avail_in == 0, stream.avail_out > 0 { break }
            if code == Z_BUF_ERROR { break }
        }
        return bytes.count - Int(stream.avail_in)
    }
}

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
