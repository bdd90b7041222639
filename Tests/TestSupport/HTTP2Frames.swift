/// Frames of HTTP/2 as bytes, as wrong as a test wants them (RFC 9113, section 4).
package enum HTTP2Frames {
    package static func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int, _ payload: [UInt8] = []) -> [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
            + [24, 16, 8, 0].map { UInt8(stream >> $0 & 0xFF) } + payload
    }

    /// A HEADERS frame with literal fields.
    package static func headers(_ fields: [(String, [UInt8])], stream: Int, ends: Bool = false) -> [UInt8] {
        let block: [UInt8] = fields.flatMap { [0] + literal(Array($0.0.utf8)) + literal($0.1) }
        return frame(1, flags: ends ? 5 : 4, stream: stream, block)
    }

    package static func headers(_ fields: [(String, String)], stream: Int, ends: Bool = false) -> [UInt8] {
        headers(fields.map { ($0.0, Array($0.1.utf8)) }, stream: stream, ends: ends)
    }

    package static func data(_ text: String, stream: Int, ends: Bool = true) -> [UInt8] {
        frame(0, flags: ends ? 1 : 0, stream: stream, Array(text.utf8))
    }

    /// RST_STREAM with an error's number.
    package static func reset(_ code: UInt8, stream: Int) -> [UInt8] { frame(3, stream: stream, [0, 0, 0, code]) }

    /// RFC 7541, section 5.2, without Huffman's code.
    private static func literal(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var length = [UInt8(127)]
        var rest = bytes.count - 127
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }
}
