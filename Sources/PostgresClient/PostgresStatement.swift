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
