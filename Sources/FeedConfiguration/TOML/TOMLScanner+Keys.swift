extension TOMLScanner {
    /// Reads a key with any number of dots: its last name, and the names before it. Blanks around the names are
    /// skipped.
    mutating func readKey() throws(TOMLError) -> (path: [TOMLKey], last: TOMLKey) {
        var path: [TOMLKey] = []
        while true {
            skipBlanks()
            guard path.count < TOMLLimits.depth else {
                throw error("the key has more than \(TOMLLimits.depth) names; tables can be nested no deeper")
            }
            let start = position
            let key = TOMLKey(name: try readName(), range: start..<position)
            skipBlanks()
            guard skip(".") else { return (path, key) }
            path.append(key)
        }
    }

    private mutating func readName() throws(TOMLError) -> String {
        if let peek, peek == UInt8(ascii: "\"") || peek == UInt8(ascii: "'") { return try readShortString(peek) }
        let start = position
        while let peek, Self.isBare(peek) { advance() }
        guard position > start else {
            throw error(
                "a key is missing before \(found)", help: "other characters than A-Z a-z 0-9 _ - are written in quotes")
        }
        return source.text(start..<position)
    }

    private static func isBare(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}

/// One of the names in a dotted key or a header.
struct TOMLKey {
    var name: String
    /// The offset and the length of the name in the document.
    var range: Range<Int>

    var position: Int { range.lowerBound }

    /// The name for a message, shortened, because a document's names may be very long.
    var shown: String { Self.shown(name.unicodeScalars) }

    static func shown(_ text: some Collection<Unicode.Scalar>) -> String {
        let most = 40
        var shown = String(String.UnicodeScalarView(text.prefix(most)))
        if text.dropFirst(most).first != nil { shown += "…" }
        return shown
    }
}
