extension String {
    /// As a string literal of SQL.
    package var sqlLiteral: String { quoted(by: "'") }

    /// As an identifier of SQL, whatever characters it has. (GRDB's own quoting leaves quotes inside as they are.)
    package var sqlIdentifier: String { quoted(by: "\"") }

    /// By scalars: a quote that a combining mark follows is no `Character` of its own, and ends SQL's text all the same.
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
