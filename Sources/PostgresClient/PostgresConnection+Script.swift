import CLibPQ

extension PostgresConnection {
    /// Executes a script of many statements, in one transaction unless it has its own or the connection is in one.
    ///
    /// - Parameter line: the line on which the script begins.
    /// - Returns: the last statement's result.
    /// - Throws: ``PostgresError`` with the line of the statement that failed, or of the place in it.
    @discardableResult
    package func executeScript(_ sql: String, line firstLine: Int = 1) throws -> PostgresResult {
        let connection = try ready(for: sql)
        guard PQsendQuery(connection, sql) == 1 else { throw lostError() }
        return try lastResult { error, results in
            let line =
                error.position.map { SQLScript.line(of: $0, in: sql) }
                ?? SQLScript.line(ofStatement: results, in: sql)
            error.line = line.map { $0 + firstLine - 1 }
        }
    }
}
