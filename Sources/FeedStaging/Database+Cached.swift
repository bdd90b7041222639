package import GRDB

extension Database {
    /// Executes a statement that each connection prepares once.
    package func execute(cached sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
