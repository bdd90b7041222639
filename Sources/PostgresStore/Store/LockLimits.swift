import FeedModel
import Foundation

/// The longest waits for locks of other sessions.
enum LockLimits {
    /// Of a commit, or of a move. The largest stack is committed within it.
    static let commit = Duration.seconds(120)
    /// Of a question about the rows of a table.
    static let question = Duration.seconds(5)
    /// Of one attempt that is repeated without holding a connection meanwhile.
    static let attempt = Duration.milliseconds(100)
}

/// The settings of transactions. They limit the waits for other sessions, and those of other sessions for a transaction.
extension PostgresStore {
    typealias Settings = [(name: String, value: String)]

    /// The time after which the server ends a transaction whose client says nothing: a process that was stopped in the
    /// middle of a commit would else keep its locks from all others.
    static let silence = Duration.seconds(5)
    /// The time after which the server ends a silent transaction that locks nothing yet: it may wait for other
    /// transactions of its process.
    static let silenceBeforeLocks = Duration.seconds(300)

    /// Returns the settings of a transaction that writes. The server gives up a client that it cannot reach any more after
    /// twenty seconds, the duration of a lease.
    ///
    /// - Parameters:
    ///   - silence: the time after which the server ends a transaction whose client says nothing.
    ///   - lock: the longest wait for a lock.
    func settings(_ silence: Duration = silence, lock: Duration = LockLimits.commit) -> Settings {
        readSettings(lock: lock) + [
            ("idle_in_transaction_session_timeout", "\(Int(silence / .milliseconds(1)))"),
            ("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "5"), ("tcp_keepalives_count", "2"),
            ("tcp_user_timeout", "20000"),
        ]
    }

    /// Returns the settings of a transaction that reads. The server compiles nothing: statements over tables that were
    /// never analyzed look so expensive that it would, which takes a hundred times as long as to execute them. Once the
    /// program is to stop, waits for locks end with it.
    func readSettings(lock: Duration) -> Settings {
        let rest = stop.deadline.map { ContinuousClock.now.duration(to: $0) } ?? lock
        let milliseconds = Int(min(rest, lock) / .milliseconds(1))
        return [("lock_timeout", "\(max(1, milliseconds))"), ("jit", "off")]
    }

    static func setting(_ silence: Duration) -> String {
        "SET LOCAL idle_in_transaction_session_timeout = \(Int(silence / .milliseconds(1)))"
    }
}

/// The lock under which tables are created: several daemons may prepare one store at once.
enum SchemaLock {
    /// Locks for the rest of the transaction, once no other session holds it. Waits for ``LockLimits/commit`` at most.
    ///
    /// A session that waits to change a table holds up all later ones, even readers, so such waits are short.
    static func take(_ connection: PostgresConnection) throws {
        try connection.execute("SET LOCAL lock_timeout = '\(Int(LockLimits.commit / .seconds(1)))s'")
        try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('tributary.tables', 0))")
        // Waiting for an advisory lock does not make the session notice tables that others have created meanwhile: names
        // that it has looked up in vain remain unknown. The lock on a table does.
        try connection.execute("SELECT FROM pg_class LIMIT 0")
        try connection.execute("SET LOCAL lock_timeout = '10s'")
    }
}
