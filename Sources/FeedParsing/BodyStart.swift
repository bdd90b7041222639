import XMLStream

/// The kind of a body, from its first bytes and its Content-Type.
package enum BodyStart: Equatable {
    /// Nothing but white space so far.
    case undecided
    case xml
    /// JSON after a byte order mark of this length.
    case json(skipped: Int)

    /// The most bytes of white space that are read before a body is taken to be what it was declared.
    private static let longestBlank = 64 << 10

    /// - Parameters:
    ///   - start: the bytes from the start of the body.
    ///   - isDeclaredJSON: true where the Content-Type is one of JSON.
    ///   - isWhole: true where no more bytes follow.
    /// - Throws: ``DocumentError`` for JSON in UTF-16 or UTF-32, which JSON does not allow.
    package static func find(in start: [UInt8], isDeclaredJSON: Bool, isWhole: Bool) throws -> BodyStart {
        guard start.count >= 4 || isWhole else { return .undecided }
        if start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) {
            let first = start.dropFirst(2).first { $0 != 0 && !isXMLSpace($0) }
            guard !isDeclaredJSON, !(first.map(isJSON) ?? false) else { throw wrongEncoding }
            return .xml
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let skipped = start.starts(with: mark) ? mark.count : 0
        guard let first = start[skipped...].firstIndex(where: { !isXMLSpace($0) }) else {
            guard isWhole || start.count > longestBlank else { return .undecided }
            return isDeclaredJSON ? .json(skipped: skipped) : .xml
        }
        guard isDeclaredJSON || isJSON(start[first]) else { return .xml }
        // JSON in UTF-8 has no NUL in its first bytes. In UTF-16 and UTF-32 every ASCII character has one.
        guard first + 1 < start.count || isWhole else { return .undecided }
        if start[first] == 0 || first + 1 < start.count && start[first + 1] == 0 { throw wrongEncoding }
        return .json(skipped: skipped)
    }

    private static func isJSON(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }

    private static var wrongEncoding: DocumentError {
        DocumentError("the body is JSON in UTF-16 or UTF-32; JSON is in UTF-8 (RFC 8259, section 8.1)")
    }
}
