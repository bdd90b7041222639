import FeedStores
import FeedModel
import PostgresClient

/// Small writes.
extension PostgresStore {
    /// Writes in a transaction of its own, and once more where another transaction was in the way or the connection was
    /// lost. For what may be done twice.
    ///
    /// - Throws: ``StoreError``
    func write<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        do {
            do {
                return try transaction(body)
            } catch let error as PostgresError where error.isRepeatable || error.isCommitUnknown {
                connections.forgetIdle()
                return try transaction(body)
            }
        } catch let error as PostgresError {
            throw StoreError(commit: error, store: description)
        }
    }

    /// Makes a small write, together with others that wait.
    ///
    /// - Parameter body: returns the run that it has recorded. It may be called more than once, each time in another
    ///   transaction. Without a run, it may take effect twice.
    /// - Throws: ``StoreError``
    func writeInGroup(_ body: @escaping @Sendable (PostgresConnection) throws -> RecordedRun?) async throws {
        do {
            try await groupCommit.write(to: self, body)
        } catch let error as PostgresError {
            throw StoreError(commit: error, store: description)
        }
    }

    /// Runs a body in a transaction whose waits for locks are limited.
    ///
    /// - Throws: `PostgresError`, and the errors of the body.
    func transaction<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        if let planning { return try planning.inTransaction(of: self, fills: false, body) }
        return try connections.withConnection { connection in
            try lockWaits.whileWaiting(connection) {
                try connection.inTransaction(settings: lockWaits.settings()) { try body(connection) }
            }
        }
    }
}
