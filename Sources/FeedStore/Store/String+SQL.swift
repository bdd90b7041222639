extension String {
    /// As a string literal of SQL.
    package var sqlLiteral: String { quoted(by: "'") }

    /// As an identifier of SQL, whatever characters it has. (GRDB's own quoting leaves quotes inside as they are.)
    package var sqlIdentifier: String { quoted(by: "\"") }

    private func quoted(by quote: Character) -> String {
        var quoted = String(quote)
        if utf8.contains(quote.asciiValue ?? 0) {
            for character in self { quoted += character == quote ? "\(quote)\(quote)" : "\(character)" }
        } else {
            quoted += self
        }
        quoted.append(quote)
        return quoted
    }
}
