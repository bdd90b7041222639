import FeedModel

/// The bytes of a document. All must be text: UTF-8 without control characters other than tabs and line ends (TOML 1.1,
/// "Spec" and "Comment").
struct TOMLBytes {
    let bytes: [UInt8]
    /// The offset of the text, after any byte order mark.
    let start: Int

    /// - Throws: ``TOMLError`` for the first byte that is not allowed.
    init(_ bytes: [UInt8]) throws(TOMLError) {
        self.bytes = bytes
        start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw error("the text is UTF-16", help: "save it as UTF-8", at: 0)
        }
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if byte >= 0x80 {
                let length = sequenceLength(at: position)
                guard length > 0 else {
                    throw error("the text is not UTF-8 here", help: "save it as UTF-8", at: position)
                }
                position += length
            } else if byte >= 0x20, byte != 0x7F {
                position += 1
            } else {
                try checkControl(byte, at: position)
                position += 1
            }
        }
    }

    private func checkControl(_ byte: UInt8, at position: Int) throws(TOMLError) {
        switch byte {
        case UInt8(ascii: "\t"), UInt8(ascii: "\n"): return
        case UInt8(ascii: "\r"):
            guard position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "\n") else {
                throw error("a carriage return without a line feed", help: "end lines with LF or CRLF", at: position)
            }
        case 0:
            throw error("a NUL byte; the file is damaged, or is not a text", at: position)
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            let code = String(repeating: "0", count: 4 - digits.count) + digits
            throw error("the control character U+\(code)", help: "write \"\\u\(code)\" if it is meant", at: position)
        }
    }

    /// Returns the length of a well-formed sequence that is not ASCII (Unicode, table 3-7); 0 without one.
    private func sequenceLength(at position: Int) -> Int {
        func isByte(_ offset: Int, in range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            position + offset < bytes.count && range.contains(bytes[position + offset])
        }
        switch bytes[position] {
        case 0xC2...0xDF: return isByte(1) ? 2 : 0
        case 0xE0: return isByte(1, in: 0xA0...0xBF) && isByte(2) ? 3 : 0
        case 0xED: return isByte(1, in: 0x80...0x9F) && isByte(2) ? 3 : 0
        case 0xE1...0xEF: return isByte(1) && isByte(2) ? 3 : 0
        case 0xF0: return isByte(1, in: 0x90...0xBF) && isByte(2) && isByte(3) ? 4 : 0
        case 0xF4: return isByte(1, in: 0x80...0x8F) && isByte(2) && isByte(3) ? 4 : 0
        case 0xF1...0xF3: return isByte(1) && isByte(2) && isByte(3) ? 4 : 0
        default: return 0
        }
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns an error with the line and column of a position.
    func error(_ finding: String, help: String? = nil, at position: Int) -> TOMLError {
        var line = 1
        var lineStart = start
        for index in bytes[..<position].indices where bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        // Continuation bytes of a character are not counted.
        let column = bytes[min(lineStart, position)..<position].count { $0 & 0xC0 != 0x80 } + 1
        return TOMLError(line: line, column: column, offset: position, finding: Finding(finding, help: help))
    }
}
