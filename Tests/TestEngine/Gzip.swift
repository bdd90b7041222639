import CZlib

/// Compressed bodies for tests.
package enum Gzip {
    /// 64 MiB of white space in a document, in some 64 KiB.
    package static let bomb = compressed("<items>" + String(repeating: " ", count: 64 << 20) + "</items>")

    package static func compressed(_ text: String) -> [UInt8] {
        var input = Array(text.utf8)
        var stream = z_stream()
        deflateInit2_(
            &stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))) + 64)
        let capacity = output.count
        let length = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(capacity)
                deflate(&stream, Z_FINISH)
                return capacity - Int(stream.avail_out)
            }
        }
        return Array(output[..<length])
    }
}
