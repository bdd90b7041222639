import FeedModel
import Foundation

/// Questions. Neither the server nor another session's lock delays a caller for longer than their limit of time.
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
    /// ``LockLimits/attempt``, and between two attempts no connection is held, so that a locked table delays its
    /// own sources only.
    ///
    /// - Parameters:
    ///   - subject: what is read, for the error of a table that stays locked.
    ///   - body: receives the settings of a transaction for its statements. It may be called several times.
    /// - Throws: ``StoreError``
    func askForRows<Value>(
        _ subject: String, _ body: (PostgresConnection, Settings) throws -> Value
    ) throws -> Value {
        let end = ContinuousClock.now + LockLimits.question
        while true {
            do {
                return try question(fills: true, within: Self.queryLimit) { connection in
                    try body(connection, readSettings(lock: LockLimits.attempt))
                }
            } catch let error as PostgresError where error.state == .lockNotAvailable {
                guard ContinuousClock.now < end, !stop.isRequested else {
                    throw StoreError(
                        .database,
                        "\(subject) cannot be read in the store \(description): another session has kept its table "
                            + "locked for \(Int(LockLimits.question / .seconds(1))) s; pg_locks and "
                            + "pg_stat_activity show which")
                }
                Thread.sleep(forTimeInterval: LockLimits.attempt * 3 / .seconds(1))
            } catch let error as PostgresError {
                throw StoreError(reading: error, store: description)
            }
        }
    }

    /// Reads users' tables, histories and Tributary's own as they are at one moment, in a transaction in which the
    /// server refuses to write.
    ///
    /// - Parameters:
    ///   - settings: further settings of the transaction.
    ///   - lock: the longest wait for a lock.
    ///   - limit: the limit of each wait for the server.
    /// - Throws: `PostgresError`
    func snapshot<Value>(
        _ settings: Settings = [], lock: Duration = LockLimits.question,
        within limit: AnswerLimit = .question(queryLimit), _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        if let planning { return try planning.inTransaction(of: self, fills: true, body) }
        return try connections.withConnection(limit) { connection in
            try connection.inTransaction(
                .repeatableRead, isReadOnly: true, settings: readSettings(lock: lock) + settings
            ) { try body(connection) }
        }
    }

    /// - Parameter fills: true if rows are read.
    private func question<Value>(
        by pool: ConnectionPool? = nil, fills: Bool = false, within limit: Duration,
        _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        if let planning { return try planning.inTransaction(of: self, fills: fills, body) }
        return try (pool ?? connections).withConnection(.question(limit), attempts: stop.isRequested ? 1 : 2, body)
    }
}

extension PostgresConnection {
    /// Executes a statement over a user's table in one round trip. It waits for a lock for ``LockLimits/attempt``;
    /// in a transaction, for as long as the transaction's settings say.
    func executeBriefly(_ sql: String, _ parameters: [PostgresValue?] = []) throws -> PostgresResult {
        guard transactionStatus == .idle else { return try execute(sql, parameters) }
        let milliseconds = Int(LockLimits.attempt / .milliseconds(1))
        return try execute([
            PostgresStatement(
                "SELECT set_config('lock_timeout', $1, true), set_config('jit', 'off', true)",
                [.text("\(milliseconds)")], isPrepared: true),
            PostgresStatement(sql, parameters),
        ])[1]
    }
}
