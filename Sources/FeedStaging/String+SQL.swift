extension String {
    /// The text as an SQL string literal.
    package var sqlLiteral: String { quoted(by: "'") }

    /// The text as an SQL identifier, whatever its characters. (GRDB's own quoting leaves quotes inside unchanged.)
    package var sqlIdentifier: String { quoted(by: "\"") }

    /// Quotes by scalars: a quote followed by a combining mark is not a `Character` of its own, but still ends SQL's
    /// text.
    private func quoted(by quote: Unicode.Scalar) -> String {
        guard utf8.contains(UInt8(ascii: quote)) else { return "\(quote)\(self)\(quote)" }
        var quoted = String.UnicodeScalarView([quote])
        for scalar in unicodeScalars {
            if scalar == quote { quoted.append(quote) }
            quoted.append(scalar)
        }
        quoted.append(quote)
        return String(quoted)
    }
}
