extension String {
    /// As an identifier of PostgreSQL's SQL, whatever characters it has. The server cuts names longer than 63 bytes.
    package var postgresIdentifier: String { quoted("\"", doubling: ["\""]) }

    /// As a string literal of PostgreSQL's SQL, the same under both values of `standard_conforming_strings`.
    package var postgresLiteral: String {
        guard utf8.contains(UInt8(ascii: "\\")) else { return quoted("'", doubling: ["'"]) }
        // A space before it, as PQescapeLiteral does, in case a word precedes.
        return " E" + quoted("'", doubling: ["'", "\\"])
    }

    /// By scalars: a quote that a combining mark follows is no `Character` of its own, and ends SQL's text all the same.
    private func quoted(_ quote: Unicode.Scalar, doubling doubled: [Unicode.Scalar]) -> String {
        var quoted = String.UnicodeScalarView([quote])
        for scalar in unicodeScalars {
            if doubled.contains(scalar) { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append(quote)
        return String(quoted)
    }
}
