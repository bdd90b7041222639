/// A text of SQL in which tokens are replaced, never inside strings, quoted names and comments.
struct RewrittenSQL {
    struct Token {
        var range: Range<Int>
        /// The token as written.
        var text: String
        var isQuoted: Bool

        /// The name of the token: folded to lower case, unless it is quoted.
        var name: String {
            guard isQuoted, text.hasPrefix("\""), text.utf8.count >= 2 else { return text.lowercased() }
            return String(text.dropFirst().dropLast()).replacing("\"\"", with: "\"")
        }
    }

    let tokens: [Token]
    private let bytes: [UInt8]
    private var replacements: [(range: Range<Int>, text: String)] = []

    init(_ sql: String) {
        bytes = Array(sql.utf8)
        var scanner = SQLScanner(sql)
        var tokens: [Token] = []
        while let token = scanner.next() {
            let range = scanner.tokenRange
            var isQuoted = false
            if case .quoted = token { isQuoted = true }
            tokens.append(
                Token(range: range, text: String(decoding: bytes[range], as: UTF8.self), isQuoted: isQuoted))
        }
        self.tokens = tokens
    }

    /// Replaces a token. Tokens are replaced in their order.
    mutating func replace(_ token: Token, by text: String) { replacements.append((token.range, text)) }

    var sql: String {
        var result: [UInt8] = []
        var position = 0
        for replacement in replacements {
            result += bytes[position..<replacement.range.lowerBound]
            result += replacement.text.utf8
            position = replacement.range.upperBound
        }
        return String(decoding: result + bytes[position...], as: UTF8.self)
    }
}
