extension PostgresConnection {
    package enum Isolation: String, Sendable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
        case serializable = "SERIALIZABLE"
    }

    /// Runs a body in a transaction, and commits it; if the body throws, rolls it back. Afterwards the connection is in no
    /// transaction, or lost.
    ///
    /// - Parameter settings: what is set for the transaction, in the round trip of its BEGIN.
    /// - Throws: what the body throws, or ``PostgresError``. ``PostgresError/isCommitUnknown`` tells that the server was asked
    ///   to commit and did not answer, within ``commitLimit`` or ever.
    package func inTransaction<Value>(
        _ isolation: Isolation = .readCommitted, isReadOnly: Bool = false,
        settings: [(name: String, value: String)] = [], _ body: () throws -> Value
    ) throws -> Value {
        guard transactionStatus != .inTransaction, transactionStatus != .failed else {
            throw PostgresError(.misuse, "the connection is in a transaction already", server: address)
        }
        // No connection pool keeps these two across transactions, and a role may have other values: doubles with all their
        // digits, and the shorter text of `bytea`.
        let all = [("extra_float_digits", "1"), ("bytea_output", "hex")] + settings
        try executeScript(
            """
            BEGIN ISOLATION LEVEL \(isolation.rawValue)\(isReadOnly ? ", READ ONLY" : "");
            \(all.map { "SET LOCAL \($0.0) = \($0.1)" }.joined(separator: "; "))
            """)
        let value: Value
        do { value = try body() } catch {
            rollBack()
            throw error
        }
        try commit()
        return value
    }

    private func commit() throws { try commit { try execute("COMMIT") } }

    /// Sends the last statements of the transaction and its COMMIT in one flight.
    ///
    /// - Returns: the results of the statements.
    /// - Throws: ``PostgresError``, as ``inTransaction(_:isReadOnly:_:)`` does. The transaction is then rolled back, or its
    ///   outcome is unknown.
    @discardableResult
    package func commit(after statements: [PostgresStatement]) throws -> [PostgresResult] {
        var results: [PostgresResult] = []
        try commit {
            results = try pipeline(statements + [PostgresStatement("COMMIT")]).results()
            return results.removeLast()
        }
        return results
    }

    private func commit(_ command: () throws -> PostgresResult) throws {
        let result: PostgresResult
        answerDeadline = .now + commitLimit
        defer { answerDeadline = nil }
        do { result = try command() } catch var error as PostgresError {
            error.isCommitUnknown = error.isConnectionLost
            rollBack()
            throw error
        }
        // COMMIT ends a failed transaction without an error, by rolling it back.
        guard result.command == "COMMIT" else {
            throw PostgresError(
                .statement, "the transaction was rolled back: a statement in it had failed before",
                state: .inFailedTransaction, server: address)
        }
    }

    /// Leaves no transaction open, on a connection that still stands.
    package func rollBack() {
        guard transactionStatus != .idle, transactionStatus != .unknown else { return }
        _ = try? execute("ROLLBACK")
    }

    /// Runs a body within the transaction; if it throws, undoes what it did, and the transaction can go on. Savepoints nest.
    ///
    /// - Throws: what the body throws, or ``PostgresError``.
    package func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        // The last savepoint of a name hides the earlier ones.
        try execute("SAVEPOINT tributary")
        let value: Value
        do { value = try body() } catch {
            _ = try? executeScript("ROLLBACK TO SAVEPOINT tributary; RELEASE SAVEPOINT tributary")
            throw error
        }
        try execute("RELEASE SAVEPOINT tributary")
        return value
    }
}
