import FeedModel
import FeedStores
import Foundation

/// A small write. It returns the run that it has recorded.
typealias GroupWrite = @Sendable (PostgresConnection) throws -> RecordedRun?

/// Small writes.
extension PostgresStore {
    /// Writes in a transaction of its own, and once more where another transaction was in the way or the connection was
    /// lost. For what may be done twice.
    ///
    /// - Throws: ``StoreError``
    func transact<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
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
    func transactInGroup(_ body: @escaping GroupWrite) async throws {
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

    /// Runs a body in a transaction whose waits for locks are limited. Its statements may take any time, as long as the
    /// server works on them.
    ///
    /// - Throws: `PostgresError`, and the errors of the body.
    func transaction<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        if let planning { return try planning.inTransaction(of: self, fills: false, body) }
        return try connections.withConnection(.work) { connection in
            try connection.inTransaction(settings: settings()) { try body(connection) }
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

/// Transactions whose COMMIT had no response.
extension PostgresStore {
    /// Returns whether a run is in the store, once its transaction has ended.
    ///
    /// - Throws: ``StoreError`` if that cannot be found out within ``settlingTime``, or before the program ends.
    func isRecorded(_ run: RecordedRun) throws -> Bool {
        connections.forgetIdle()
        let deadline = ContinuousClock.now + settlingTime
        var pause = 0.05
        while true {
            var reason = "its transaction has not ended"
            do {
                let isRecorded = try connections.withConnection(.question(Self.answerLimit)) { connection in
                    try Self.isRecorded(run, &reason, connection)
                }
                if let isRecorded { return isRecorded }
            } catch let error as PostgresError where error.isTransient {
                // A program that is to stop gives its connections up itself.
                if !stop.isRequested { reason = "\(error.finding)" }
            }
            let end = min(deadline, stop.deadline ?? deadline)
            guard ContinuousClock.now < end else {
                throw StoreError(
                    .database,
                    "the store \(description) was lost while it committed run \(run.id) of '\(run.source)', and whether "
                        + "that run was recorded cannot be found out: \(reason)")
            }
            Thread.sleep(forTimeInterval: min(pause, ContinuousClock.now.duration(to: end) / .seconds(1)))
            pause = min(1, pause * 2)
        }
    }

    /// - Returns: nil if this server cannot tell yet, with the reason.
    private static func isRecorded(
        _ run: RecordedRun, _ reason: inout String, _ connection: PostgresConnection
    ) throws -> Bool? {
        // A standby may be behind the server that has committed, which may come back.
        guard try !isStandby(connection) else {
            reason = "the server that answers is a standby"
            // The next connection may be to another of several hosts.
            connection.close()
            return nil
        }
        // The server may not have noticed yet that its client is gone, and still be about to commit. Looking for the run
        // comes second, so that it cannot be recorded between the two looks.
        guard try hasEnded(run.transaction, connection) else { return nil }
        return try connection.ledger().runs.isRecorded(run)
    }

    private static func isStandby(_ connection: PostgresConnection) throws -> Bool {
        try connection.execute("SELECT pg_is_in_recovery()")[0].bool(0) ?? false
    }

    private static func hasEnded(_ transaction: String, _ connection: PostgresConnection) throws -> Bool {
        do {
            let status = try connection.execute("SELECT pg_xact_status($1::xid8)", [.text(transaction)])[0].string(0)
            return status != "in progress"
        } catch let error as PostgresError where error.state == .invalidParameterValue {
            // Another server has taken over, which does not know the transaction.
            return true
        }
    }
}

extension SQLState {
    fileprivate static let invalidParameterValue = SQLState(rawValue: "22023")
}
