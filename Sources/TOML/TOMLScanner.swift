/// Walks through a document's bytes, and counts its lines.
struct TOMLScanner {
    let source: TOMLBytes
    private(set) var position: Int
    /// Counted from 1.
    private(set) var line = 1

    init(_ source: TOMLBytes) {
        self.source = source
        position = source.start
    }

    var peek: UInt8? { byte(at: 0) }

    /// Nil behind the end.
    func byte(at offset: Int) -> UInt8? {
        let index = position + offset
        return index < source.bytes.count ? source.bytes[index] : nil
    }

    /// - Precondition: so many bytes follow, none of them a line feed.
    mutating func advance(_ count: Int = 1) { position += count }

    /// Takes a byte if it follows.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let peek, peek < 0x80, UInt32(peek) == character.value else { return false }
        position += 1
        return true
    }

    /// Whether this follows three times: what a string of several lines begins and ends with.
    func isTripled(_ quote: UInt8) -> Bool { byte(at: 0) == quote && byte(at: 1) == quote && byte(at: 2) == quote }

    mutating func skipBlanks() {
        while peek == UInt8(ascii: " ") || peek == UInt8(ascii: "\t") { position += 1 }
    }

    /// Takes a line end if it follows.
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

    /// - Throws: where anything but a comment follows on the line.
    mutating func expectLineEnd(after what: String) throws(TOMLError) {
        skipBlanks()
        skipComment()
        guard peek == nil || skipLineEnd() else {
            throw error("\(found) after \(what); only a comment may follow on the line")
        }
    }

    /// What follows, for a message.
    var found: String {
        guard let peek else { return "the end of the text" }
        if peek == UInt8(ascii: "\n") || peek == UInt8(ascii: "\r") { return "the end of the line" }
        var end = position + 1
        while end < source.bytes.count, source.bytes[end] & 0xC0 == 0x80 { end += 1 }
        return "'\(source.text(position..<end))'"
    }

    func error(_ message: String) -> TOMLError { source.error(message, at: position) }

    func error(_ message: String, at position: Int) -> TOMLError { source.error(message, at: position) }
}
