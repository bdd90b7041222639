import FeedModel
import FeedStores
import Foundation
import Ledger
import PostgresClient

/// A small write. It returns the run that it has recorded.
typealias GroupWrite = @Sendable (PostgresConnection) throws -> RecordedRun?

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
    /// - Parameter body: may be called more than once, each time in another transaction. Without a run, it may take effect
    ///   twice.
    /// - Throws: ``StoreError``
    func writeInGroup(_ body: @escaping GroupWrite) async throws {
        do {
            try await groupCommit.write(body) {
                Thread.detachNewThread {
                    while self.groupCommit.commit(self.writeGroup, concernsAll: { $0.concernsAllWrites }) {}
                }
            }
        } catch let error as PostgresError {
            throw StoreError(commit: error, store: description)
        }
    }

    /// Writes in one transaction, and once more where that may help.
    private func writeGroup(_ writes: [GroupWrite]) throws {
        var run: RecordedRun?
        func attempt() throws {
            run = nil
            try transaction { connection in
                for write in writes { run = try write(connection) ?? run }
            }
        }
        do {
            try attempt()
        } catch let error as PostgresError where error.isRepeatable || error.isCommitUnknown {
            // All were committed, or none.
            if error.isCommitUnknown, let run, try isRecorded(run) { return }
            connections.forgetIdle()
            try attempt()
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

extension Error {
    /// True for errors that every write would meet: a server that is away, full, or only reads.
    fileprivate var concernsAllWrites: Bool {
        guard let error = self as? PostgresError else { return false }
        return error.isTransient && error.state != .deadlockDetected && error.state != .lockNotAvailable
    }
}
