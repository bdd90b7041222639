/// A statement and its parameters, `$1`, `$2` and so on, to be sent together with others.
package struct PostgresStatement: Sendable {
    package var sql: String
    package var parameters: [PostgresValue?]
    /// True if the connection keeps the statement prepared: its text is sent again and again, with other parameters.
    package var isPrepared: Bool

    package init(_ sql: String, _ parameters: [PostgresValue?] = [], isPrepared: Bool = false) {
        self.sql = sql
        self.parameters = parameters
        self.isPrepared = isPrepared
    }

    var unprepared: PostgresStatement { PostgresStatement(sql, parameters) }
}

/// What became of one statement of several.
package enum PostgresOutcome {
    case result(PostgresResult)
    case failure(PostgresError)
    /// Not executed, because a statement before it had failed.
    case skipped
}

extension [PostgresOutcome] {
    /// Returns the result of each statement.
    ///
    /// - Throws: ``PostgresError`` of the statement that failed.
    package func results() throws -> [PostgresResult] {
        for case .failure(let error) in self { throw error }
        return compactMap { outcome in
            if case .result(let result) = outcome { result } else { nil }
        }
    }
}

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
