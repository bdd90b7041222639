import FeedDeclarations
import XMLStream

/// The format of a body whose Content-Type does not say it, from the body's first bytes: XML or JSON.
enum BodyStart {
    /// The most bytes of white space that are read before a body is taken to be XML.
    private static let longestBlank = 64 << 10

    /// - Parameters:
    ///   - start: the bytes from the start of the body.
    ///   - isWhole: true if no more bytes follow.
    /// - Returns: nil if more bytes are needed.
    static func format(of start: [UInt8], isWhole: Bool) -> BodyFormat? {
        if start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) {
            return start.dropFirst(2).first { $0 != 0 && !isXMLSpace($0) }.map(isJSON) ?? false ? .json : .xml
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = start.dropFirst(start.starts(with: mark) ? mark.count : 0)
        guard let first = text.firstIndex(where: { !isXMLSpace($0) }) else {
            return isWhole || start.count > longestBlank ? .xml : nil
        }
        guard isJSON(start[first]) else { return .xml }
        // The byte after it shows the encoding.
        return first + 1 < start.count || isWhole ? .json : nil
    }

    /// Returns true if the bytes show the encoding of JSON: its first character, and the byte after that.
    static func showsEncoding(_ start: [UInt8], isWhole: Bool) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = start.dropFirst(start.starts(with: mark) ? mark.count : 0)
        return isWhole || start.count > longestBlank || text.drop(while: isXMLSpace).count > 1
    }

    private static func isJSON(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }
}
