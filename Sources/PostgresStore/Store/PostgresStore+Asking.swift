import FeedModel
import Foundation

/// Queries with a limit of time. Neither the server nor another session's lock delays a caller for longer.
extension PostgresStore {
    /// The longest time for which the server may be silent to a question about definitions and Tributary's own tables.
    static let answerLimit = Duration.seconds(30)
    /// The longest time for which the server may be silent to a heartbeat or a lease, which last longer than that.
    static let leaseAnswerLimit = Duration.seconds(10)
    /// The longest time for which the server may be silent to a query over users' rows.
    static let queryLimit = Duration.seconds(600)

    /// Asks about definitions and Tributary's own tables, and once more on a new connection if the first one is lost.
    /// ``stopWaiting()`` ends the wait.
    ///
    /// - Parameters:
    ///   - pool: nil for the store's connections.
    ///   - limit: the longest time for which the server may be silent.
    /// - Throws: ``StoreError``
    func ask<Value>(
        by pool: ConnectionPool? = nil, within limit: Duration = answerLimit,
        _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        do {
            return try question(by: pool, within: limit, body)
        } catch let error as PostgresError {
            throw StoreError(reading: error, store: description)
        }
    }

    /// Asks about users' rows for a run. Other sessions may lock their tables: each attempt waits for a lock for
    /// ``LockWaits/attemptLimit``, and between two attempts no connection is held, so that a locked table delays its
    /// own sources only.
    ///
    /// - Parameters:
    ///   - subject: what is read, for the error of a table that stays locked.
    ///   - body: receives the settings of a transaction for its statements. It may be called several times.
    /// - Throws: ``StoreError``
    func askForRows<Value>(
        _ subject: String, _ body: (PostgresConnection, LockWaits.Settings) throws -> Value
    ) throws -> Value {
        let end = ContinuousClock.now + LockWaits.questionLimit
        while true {
            do {
                return try question(fills: true, within: Self.queryLimit) { connection in
                    try body(connection, lockWaits.readSettings(lock: LockWaits.attemptLimit))
                }
            } catch let error as PostgresError where error.state == .lockNotAvailable {
                guard ContinuousClock.now < end, !lockWaits.areEnding else {
                    throw StoreError(
                        .database,
                        "\(subject) cannot be read in the store \(description): another session has kept its table "
                            + "locked for \(Int(LockWaits.questionLimit / .seconds(1))) s; pg_locks and "
                            + "pg_stat_activity show which")
                }
                Thread.sleep(forTimeInterval: LockWaits.attemptLimit * 3 / .seconds(1))
            } catch let error as PostgresError {
                throw StoreError(reading: error, store: description)
            }
        }
    }

    /// Reads users' tables, histories and Tributary's own as they are at one moment, in a transaction in which the
    /// server refuses to write. It waits for locks for ``LockWaits/questionLimit``.
    ///
    /// - Parameter settings: further settings of the transaction.
    /// - Throws: `PostgresError`
    func snapshot<Value>(
        _ settings: LockWaits.Settings = [], lock: Duration = LockWaits.questionLimit,
        within limit: Duration? = queryLimit, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        if let planning { return try planning.inTransaction(of: self, fills: true, body) }
        return try connections.withConnection { connection in
            try lockWaits.whileWaiting(connection, within: limit) {
                try connection.inTransaction(
                    .repeatableRead, isReadOnly: true, settings: lockWaits.readSettings(lock: lock) + settings
                ) { try body(connection) }
            }
        }
    }

    /// - Parameter fills: true if rows are read.
    private func question<Value>(
        by pool: ConnectionPool? = nil, fills: Bool = false, within limit: Duration,
        _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        if let planning { return try planning.inTransaction(of: self, fills: fills, body) }
        return try (pool ?? connections).withConnection(attempts: lockWaits.areEnding ? 1 : 2) { connection in
            try lockWaits.whileWaiting(connection, within: limit) { try body(connection) }
        }
    }
}

extension PostgresConnection {
    /// Executes a statement over a user's table in one round trip. It waits for a lock for ``LockWaits/attemptLimit``;
    /// in a transaction, for as long as the transaction's settings say.
    func executeBriefly(_ sql: String, _ parameters: [PostgresValue?] = []) throws -> PostgresResult {
        guard transactionStatus == .idle else { return try execute(sql, parameters) }
        let milliseconds = Int(LockWaits.attemptLimit / .milliseconds(1))
        return try execute([
            PostgresStatement(
                "SELECT set_config('lock_timeout', $1, true), set_config('jit', 'off', true)",
                [.text("\(milliseconds)")], isPrepared: true),
            PostgresStatement(sql, parameters),
        ])[1]
    }
}
