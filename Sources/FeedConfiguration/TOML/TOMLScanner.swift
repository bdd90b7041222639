/// Moves through a document's bytes, and counts its lines.
struct TOMLScanner {
    let source: TOMLBytes
    private(set) var position: Int
    /// The current line, counted from 1.
    private(set) var line = 1

    init(_ source: TOMLBytes) {
        self.source = source
        position = source.start
    }

    var peek: UInt8? { byte(at: 0) }

    /// Returns the byte at an offset; nil after the end.
    func byte(at offset: Int) -> UInt8? {
        let index = position + offset
        return index < source.bytes.count ? source.bytes[index] : nil
    }

    /// - Precondition: this many bytes follow, and none is a line feed.
    mutating func advance(_ count: Int = 1) { position += count }

    /// Skips a character if it comes next, and returns true if it did.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let peek, peek < 0x80, UInt32(peek) == character.value else { return false }
        position += 1
        return true
    }

    /// Returns true if this quote comes three times next, as at both ends of a string of several lines.
    func isTripled(_ quote: UInt8) -> Bool { byte(at: 0) == quote && byte(at: 1) == quote && byte(at: 2) == quote }

    mutating func skipBlanks() {
        while peek == UInt8(ascii: " ") || peek == UInt8(ascii: "\t") { position += 1 }
    }

    /// Skips a line end if it comes next, and returns true if it did.
    mutating func skipLineEnd() -> Bool {
        if peek == UInt8(ascii: "\r") { position += 1 }
        guard peek == UInt8(ascii: "\n") else { return false }
        position += 1
        line += 1
        return true
    }

    mutating func skipComment() {
        guard peek == UInt8(ascii: "#") else { return }
        while let peek, peek != UInt8(ascii: "\n"), peek != UInt8(ascii: "\r") { position += 1 }
    }

    /// Skips blanks, comments and line ends.
    mutating func skipBlankLines() {
        repeat {
            skipBlanks()
            skipComment()
        } while skipLineEnd()
    }

    /// - Throws: ``TOMLError`` if anything but a comment follows on the line.
    mutating func expectLineEnd(after what: String) throws(TOMLError) {
        skipBlanks()
        skipComment()
        guard peek == nil || skipLineEnd() else {
            throw error("\(found) after \(what)", help: "only a comment may follow on the line")
        }
    }

    /// The description of the next character, for a message.
    var found: String {
        guard let peek else { return "the end of the text" }
        if peek == UInt8(ascii: "\n") || peek == UInt8(ascii: "\r") { return "the end of the line" }
        var end = position + 1
        while end < source.bytes.count, source.bytes[end] & 0xC0 == 0x80 { end += 1 }
        return "'\(source.text(position..<end))'"
    }

    /// True at the end of a line, and of the text.
    var isAtLineEnd: Bool { peek.map { [UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains($0) } ?? true }

    /// - Parameter place: the position of what is wrong; nil for the present one.
    func error(_ finding: String, help: String? = nil, at place: Int? = nil) -> TOMLError {
        source.error(finding, help: help, at: place ?? position)
    }
}
