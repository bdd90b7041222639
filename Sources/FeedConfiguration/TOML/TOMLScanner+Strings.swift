extension TOMLScanner {
    /// Reads a string with either kind of quotes, of one line or several.
    ///
    /// - Precondition: a quote comes next.
    mutating func readString() throws(TOMLError) -> String {
        guard let quote = peek else { throw error("a string is missing") }
        return isTripled(quote) ? try readLongString(quote) : try readShortString(quote)
    }

    /// Reads a string on one line. Keys may be such strings too.
    mutating func readShortString(_ quote: UInt8) throws(TOMLError) -> String {
        let start = position
        advance()
        var text = StringBuilder(from: position)
        while let byte = peek, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
            if byte == quote {
                let string = text.finish(at: position, of: source)
                advance()
                return string
            }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                text.take(upTo: position, of: source)
                text.append(try readEscape())
                text.resume(from: position)
            } else {
                advance()
            }
        }
        let mark = quote == UInt8(ascii: "\"") ? "\"" : "'"
        throw error(
            "the string is not closed on its line",
            help: "add \(mark), or write \(mark)\(mark)\(mark) around several lines",
            at: start)
    }

    /// Reads a string of several lines. A line end right after the opening quotes is left out, and CRLF is read as LF.
    private mutating func readLongString(_ quote: UInt8) throws(TOMLError) -> String {
        let start = position
        advance(3)
        _ = skipLineEnd()
        var text = StringBuilder(from: position)
        while let byte = peek {
            switch byte {
            case quote:
                guard isTripled(quote) else {
                    advance()
                    continue
                }
                // One or two more quotes belong to the string.
                if self.byte(at: 3) == quote { advance() }
                if self.byte(at: 3) == quote { advance() }
                let string = text.finish(at: position, of: source)
                advance(3)
                return string
            case UInt8(ascii: "\r"):
                text.take(upTo: position, of: source)
                text.resume(from: position + 1)
                _ = skipLineEnd()
            case UInt8(ascii: "\n"):
                _ = skipLineEnd()
            case UInt8(ascii: "\\") where quote == UInt8(ascii: "\""):
                text.take(upTo: position, of: source)
                if try !skipEscapedLineEnd() { text.append(try readEscape()) }
                text.resume(from: position)
            default:
                advance()
            }
        }
        let mark = quote == UInt8(ascii: "\"") ? "\"\"\"" : "'''"
        throw error("the string is never closed", help: "add \(mark) at its end", at: start)
    }

    /// Skips a backslash at the end of a line, with the line end and all blanks that follow.
    private mutating func skipEscapedLineEnd() throws(TOMLError) -> Bool {
        switch byte(at: 1) {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): break
        default: return false
        }
        let start = position
        advance()
        skipBlanks()
        guard skipLineEnd() else {
            throw error("a backslash before a blank", help: "write \\\\ for a backslash", at: start)
        }
        repeat { skipBlanks() } while skipLineEnd()
        return true
    }

    /// - Precondition: a backslash comes next.
    private mutating func readEscape() throws(TOMLError) -> Unicode.Scalar {
        let start = position
        advance()
        let letter = peek
        if letter != nil, letter != UInt8(ascii: "\n"), letter != UInt8(ascii: "\r") { advance() }
        switch letter {
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "e"): return "\u{1B}"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "x"): return try readCodePoint(2, after: "x", from: start)
        case UInt8(ascii: "u"): return try readCodePoint(4, after: "u", from: start)
        case UInt8(ascii: "U"): return try readCodePoint(8, after: "U", from: start)
        default:
            throw error(
                "the backslash has no meaning here",
                help: "write \\\\ for a backslash, or put the string into single quotes",
                at: start)
        }
    }

    private mutating func readCodePoint(_ digits: Int, after letter: Character, from start: Int) throws(TOMLError)
        -> Unicode.Scalar
    {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("\(digits) hexadecimal digits must follow \\\(letter)", at: start)
            }
            value = value << 4 | UInt32(digit)
            advance()
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw error("U+\(String(value, radix: 16, uppercase: true)) is not a character of Unicode", at: start)
        }
        return scalar
    }
}

/// Builds a string from pieces of the document and the characters of escapes.
private struct StringBuilder {
    private var start: Int
    /// The bytes before `start`.
    private var taken: [UInt8] = []

    init(from start: Int) { self.start = start }

    mutating func take(upTo end: Int, of source: TOMLBytes) { taken += source.bytes[start..<end] }

    mutating func append(_ scalar: Unicode.Scalar) { taken += Array(String(scalar).utf8) }

    mutating func resume(from position: Int) { start = position }

    mutating func finish(at end: Int, of source: TOMLBytes) -> String {
        guard !taken.isEmpty else { return source.text(start..<end) }
        take(upTo: end, of: source)
        return String(decoding: taken, as: UTF8.self)
    }
}
