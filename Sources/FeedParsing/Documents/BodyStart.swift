import FeedConfiguration
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
        if let mark = ByteOrderMark(start), mark != .utf8 {
            return start.dropFirst(mark.length).first { $0 != 0 && !isXMLSpace($0) }.map(isJSON) ?? false ? .json : .xml
        }
        let text = unmarked(start)
        guard let first = text.firstIndex(where: { !isXMLSpace($0) }) else {
            return isWhole || start.count > longestBlank ? .xml : nil
        }
        guard isJSON(start[first]) else { return .xml }
        // The byte after it shows the encoding.
        return first + 1 < start.count || isWhole ? .json : nil
    }

    /// Returns true if the bytes show the encoding of JSON: its first character, and the byte after that.
    static func showsEncoding(_ start: [UInt8], isWhole: Bool) -> Bool {
        let text = unmarked(start)
        return isWhole || start.count > longestBlank || text.drop(while: isXMLSpace).count > 1
    }

    /// The most bytes before the first tag of an HTML page: spaces, comments and an XML declaration.
    private static let longestPrologue = 1_000

    /// Refuses an HTML page where another format than XML was expected.
    ///
    /// - Returns: false if more bytes are needed.
    /// - Throws: ``XMLStreamError``, as for XML.
    static func refuseHTML(_ start: [UInt8], isWhole: Bool) throws -> Bool {
        var text = unmarked(start).drop(while: isXMLSpace)
        guard text.first == UInt8(ascii: "<") else { return true }
        guard isWhole || start.count >= longestPrologue else { return false }
        text = text.prefix(longestPrologue)
        for (opening, end) in [("<?", "?>"), ("<!--", "-->"), ("<!--", "-->")] where text.starts(with: opening.utf8) {
            let rest = text.firstRange(of: Array(end.utf8)).map { text[$0.upperBound...] }
            text = (rest ?? []).drop(while: isXMLSpace)
        }
        let tag = String(decoding: text.prefix(15), as: UTF8.self).lowercased()
        guard tag.hasPrefix("<!doctype html") || tag.prefixMatch(of: #/<html[\s>]/#) != nil else { return true }
        throw XMLStreamError(code: .html, message: XMLStreamError.htmlPage, line: 1)
    }

    /// - Throws: ``DocumentError`` with the first bytes if they cannot begin XML, in any encoding.
    static func refuseOtherThanXML(_ start: [UInt8]) throws {
        if FormatGuess.isGTFSRealtime(start) {
            throw DocumentError(
                "the body seems to be GTFS Realtime; set format = \"gtfs-realtime\" (for `infer` and `init`: --format gtfs-realtime)"
            )
        }
        let text = unmarked(start).drop(while: isXMLSpace)
        // XML has this word in capitals alone.
        let word = String(decoding: text.prefix(9), as: UTF8.self)
        if word != "<!DOCTYPE", word.uppercased() == "<!DOCTYPE" {
            throw XMLStreamError(code: .html, message: XMLStreamError.htmlPage, line: 1)
        }
        guard let first = text.first, !beginnings.contains(first), !text.starts(with: [0x4C, 0x6F, 0xA7, 0x94]) else {
            return
        }
        if let compression = compressions.first(where: { start.starts(with: $0.magic) })?.name {
            throw DocumentError("the body is compressed by \(compression); set documents = \"**\" for such a body")
        }
        throw DocumentError(
            "the body begins with \(shown(text)), which is neither XML nor JSON; if it is CSV, set "
                + "format = \"csv\" (for `infer` and `init`: --format csv)")
    }

    /// The compressions that only `documents` reads, with their first bytes.
    private static let compressions: [(name: String, magic: [UInt8])] = [
        ("bzip2", [0x42, 0x5A, 0x68]), ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]),
        ("Zstandard", [0x28, 0xB5, 0x2F, 0xFD]),
    ]

    /// The first bytes of XML: `<`, and in UTF-16 and UTF-32 a mark or a zero. In EBCDIC, `<?xm` is 4C 6F A7 94.
    private static let beginnings: Set<UInt8> = [UInt8(ascii: "<"), 0, 0xFE, 0xFF]

    private static let longestShown = 40

    /// Returns the first bytes as text in quotes, up to the end of the line; as numbers if they are no text.
    static func shown(_ start: ArraySlice<UInt8>) -> String {
        let bytes = start.prefix(longestShown)
        let isText = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || isXMLSpace($0) }
        guard isText else {
            return "the bytes " + bytes.prefix(8).map { String($0, radix: 16, uppercase: true) }.joined(separator: " ")
        }
        let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        let isCut = line.count == longestShown && start.count > longestShown
        return "'" + String(decoding: line, as: UTF8.self) + (isCut ? "…'" : "'")
    }

    /// Returns the bytes without the mark of UTF-8.
    private static func unmarked(_ start: [UInt8]) -> ArraySlice<UInt8> {
        start.dropFirst(ByteOrderMark(start) == .utf8 ? ByteOrderMark.utf8.length : 0)
    }

    private static func isJSON(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }
}
