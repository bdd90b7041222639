/// SQL's tokens, as far as the ends of statements depend on them ("Lexical Structure").
package struct SQLScanner {
    package enum Token {
        case word(Substring)
        case symbol(Character)
        /// A string, a quoted name or a string between dollar quotes.
        case quoted
    }

    private let sql: [UInt8]
    private var index = 0
    private var line = 1
    /// The line on which the last token begins.
    private(set) var tokenLine = 1
    /// The UTF-8 offset at which the last token begins.
    private var tokenStart = 0

    package init(_ sql: String) { self.sql = Array(sql.utf8) }

    /// The last token's place in the UTF-8 of the text.
    package var tokenRange: Range<Int> { tokenStart..<index }

    package mutating func next() -> Token? {
        while index < sql.count {
            tokenLine = line
            tokenStart = index
            let byte = sql[index]
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), 0x0B, 0x0C: advance()
            case UInt8(ascii: "-") where peek(1) == UInt8(ascii: "-"): skip { $0 != UInt8(ascii: "\n") }
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"): skipComment()
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                skipQuoted(byte, escapes: false)
                return .quoted
            case UInt8(ascii: "$"):
                guard let tag = dollarTag() else {
                    advance()
                    return .symbol("$")
                }
                skipDollarQuoted(tag)
                return .quoted
            case _ where Self.isWord(byte):
                let start = index
                skip { Self.isWord($0) || $0 == UInt8(ascii: "$") }
                if index - start == 1, byte | 0x20 == UInt8(ascii: "e"), peek(0) == UInt8(ascii: "'") {
                    skipQuoted(UInt8(ascii: "'"), escapes: true)
                    return .quoted
                }
                return .word(Substring(decoding: sql[start..<index], as: UTF8.self))
            default:
                advance()
                return .symbol(Character(Unicode.Scalar(byte)))
            }
        }
        return nil
    }

    private func peek(_ offset: Int) -> UInt8? { index + offset < sql.count ? sql[index + offset] : nil }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where index < sql.count {
            if sql[index] == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while let byte = peek(0), condition(byte) { advance() }
    }

    /// Comments nest, other than in the standard's SQL.
    private mutating func skipComment() {
        var depth = 0
        repeat {
            if peek(0) == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
                depth += 1
                advance(2)
            } else if peek(0) == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && index < sql.count
    }

    /// A doubled quote ends the string and begins the next, which comes to the same.
    private mutating func skipQuoted(_ quote: UInt8, escapes: Bool) {
        advance()
        while let byte = peek(0), byte != quote { advance(escapes && byte == UInt8(ascii: "\\") ? 2 : 1) }
        advance()
    }

    /// `$$` or `$name$` at this place; `$1` is a parameter.
    private func dollarTag() -> ArraySlice<UInt8>? {
        guard let end = sql[(index + 1)...].firstIndex(where: { !Self.isWord($0) }), sql[end] == UInt8(ascii: "$")
        else {
            return nil
        }
        if let first = peek(1), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) { return nil }
        return sql[index...end]
    }

    private mutating func skipDollarQuoted(_ tag: ArraySlice<UInt8>) {
        advance(tag.count)
        while index < sql.count, !sql[index...].starts(with: tag) { advance() }
        advance(tag.count)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
