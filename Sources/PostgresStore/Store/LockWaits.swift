import Foundation
import FeedModel

/// The waits for the server. A commit waits for a lock that another session holds for two minutes at most, in which the
/// largest stack is committed; a question waits for ``questionLimit``. Once the program has been asked to stop, all end
/// within four seconds.
final class LockWaits: Sendable {
    private struct State {
        var deadline: ContinuousClock.Instant?
        var waiting: [ObjectIdentifier: PostgresCancellation] = [:]
    }

    typealias Settings = [(name: String, value: String)]

    /// The longest wait of a commit, or of a move, for a lock.
    static let limit = Duration.seconds(120)
    private static let lastLimit = Duration.seconds(3)
    /// The longest wait of a question for the lock of a table.
    static let questionLimit = Duration.seconds(5)
    /// The longest wait of one attempt that is repeated without holding a connection meanwhile.
    static let attemptLimit = Duration.milliseconds(100)
    /// The time within which a reachable server cancels a wait.
    private static let timeToCancel = Duration.seconds(1)

    private let state = Mutex(State())

    /// The time after which the server ends a transaction whose client says nothing: a process that was stopped in the
    /// middle of a commit would else keep its locks from all others.
    static let silence = Duration.seconds(5)
    /// The time after which the server ends a silent transaction that locks nothing yet: it may wait for other
    /// transactions of its process.
    static let silenceBeforeLocks = Duration.seconds(300)

    /// True once the program has been asked to stop.
    var areEnding: Bool { deadline != nil }

    /// The end of all waits; nil until the program has been asked to stop.
    var deadline: ContinuousClock.Instant? { state.withLock(\.deadline) }

    /// The settings of a transaction that writes: they limit its waits, and the waits that it may cause. The server
    /// gives up a client that it cannot reach any more after twenty seconds, the duration of a lease.
    ///
    /// - Parameters:
    ///   - silence: the time after which the server ends a transaction whose client says nothing.
    ///   - lock: the longest wait for a lock.
    func settings(_ silence: Duration = silence, lock: Duration = limit) -> Settings {
        readSettings(lock: lock) + [
            ("idle_in_transaction_session_timeout", "\(Int(silence / .milliseconds(1)))"),
            ("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "5"), ("tcp_keepalives_count", "2"),
            ("tcp_user_timeout", "20000"),
        ]
    }

    /// The settings of a transaction that reads. The server compiles nothing: statements over tables that were never
    /// analyzed look so expensive that it would, which takes a hundred times as long as to execute them.
    func readSettings(lock: Duration) -> Settings {
        let rest = deadline.map { max(.milliseconds(1), ContinuousClock.now.duration(to: $0)) }
        let milliseconds = Int(min(rest ?? lock, lock) / .milliseconds(1))
        return [("lock_timeout", "\(max(1, milliseconds))"), ("jit", "off")]
    }

    static func setting(_ silence: Duration) -> String {
        "SET LOCAL idle_in_transaction_session_timeout = \(Int(silence / .milliseconds(1)))"
    }

    /// Runs a body that may wait, and that ``end()`` ends. Of several within each other, the outermost counts.
    ///
    /// - Parameter limit: the longest time for which the server may be silent; nil for any.
    func whileWaiting<Value>(
        _ connection: PostgresConnection, within limit: Duration? = nil, _ body: () throws -> Value
    ) rethrows -> Value {
        if let limit { connection.silenceLimit = limit }
        defer { if limit != nil { connection.silenceLimit = nil } }
        let id = ObjectIdentifier(connection)
        let (isOutermost, isOver) = state.withLock { state in
            defer { state.waiting[id] = connection.cancellation }
            let isOver = state.deadline.map { $0 + Self.timeToCancel <= .now } ?? false
            return (state.waiting[id] == nil, isOver)
        }
        defer { if isOutermost { state.withLock { $0.waiting[id] = nil } } }
        // Nobody would end a wait that begins after all others have ended.
        if isOver { connection.cancellation.abandon() }
        return try body()
    }

    /// Limits all waits, including those in progress, to three seconds from now.
    func end() {
        let isFirst = state.withLock { state in
            defer { state.deadline = state.deadline ?? .now + Self.lastLimit }
            return state.deadline == nil
        }
        guard isFirst else { return }
        Thread.detachNewThread { [self] in
            Thread.sleep(forTimeInterval: Self.lastLimit / .seconds(1))
            for cancellation in state.withLock({ Array($0.waiting.values) }) {
                // A server that does not answer keeps this thread. Nothing is left to be cancelled there.
                Thread.detachNewThread { try? cancellation.cancel() }
            }
            Thread.sleep(forTimeInterval: Self.timeToCancel / .seconds(1))
            for cancellation in state.withLock({ Array($0.waiting.values) }) { cancellation.abandon() }
        }
    }
}

/// The lock under which tables are created: several daemons may prepare one store at once.
enum SchemaLock {
    /// Locks for the rest of the transaction, once no other session holds it. Waits for ``LockWaits/limit`` at most.
    ///
    /// A session that waits to change a table holds up all later ones, even readers, so such waits are short.
    static func take(_ connection: PostgresConnection) throws {
        try connection.execute("SET LOCAL lock_timeout = '\(Int(LockWaits.limit / .seconds(1)))s'")
        try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('tributary.tables', 0))")
        // Waiting for an advisory lock does not make the session notice tables that others have created meanwhile: names
        // that it has looked up in vain remain unknown. The lock on a table does.
        try connection.execute("SELECT FROM pg_class LIMIT 0")
        try connection.execute("SET LOCAL lock_timeout = '10s'")
    }
}
