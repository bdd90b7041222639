import Foundation
import PostgresClient
import Synchronization

/// The waits for locks that other sessions hold. Each takes two minutes at most, in which the largest stack is
/// committed, or three seconds once the program has been told to stop.
final class LockWaits: Sendable {
    private struct State {
        var deadline: ContinuousClock.Instant?
        var waiting: [ObjectIdentifier: PostgresCancellation] = [:]
    }

    private static let limit = Duration.seconds(120)
    private static let lastLimit = Duration.seconds(3)

    private let state = Mutex(State())

    /// The time after which the server ends a transaction whose client says nothing: a process that was stopped in the
    /// middle of a commit would else keep its locks from all others.
    private static let silence = Duration.seconds(10)

    /// Limits the waits of the connection's transaction, and the waits that it may cause.
    func limit(_ connection: PostgresConnection) throws {
        let rest = state.withLock(\.deadline).map { max(.milliseconds(1), ContinuousClock.now.duration(to: $0)) }
        let milliseconds = Int((rest ?? Self.limit) / .milliseconds(1))
        let silence = Int(Self.silence / .milliseconds(1))
        try connection.executeScript(
            """
            SET LOCAL lock_timeout = \(max(1, milliseconds));
            SET LOCAL idle_in_transaction_session_timeout = \(silence)
            """)
    }

    /// Runs a body that may wait, and that ``end()`` ends.
    func whileWaiting<Value>(_ connection: PostgresConnection, _ body: () throws -> Value) rethrows -> Value {
        let id = ObjectIdentifier(connection)
        state.withLock { $0.waiting[id] = connection.cancellation }
        defer { state.withLock { $0.waiting[id] = nil } }
        return try body()
    }

    /// Limits all waits, also those that have begun, to three seconds from now.
    func end() {
        let isFirst = state.withLock { state in
            defer { state.deadline = state.deadline ?? .now + Self.lastLimit }
            return state.deadline == nil
        }
        guard isFirst else { return }
        Thread.detachNewThread { [self] in
            Thread.sleep(forTimeInterval: Self.lastLimit / .seconds(1))
            for cancellation in state.withLock({ Array($0.waiting.values) }) {
                // Where the server cannot be reached, nothing is left to be cancelled.
                try? cancellation.cancel()
            }
        }
    }
}
