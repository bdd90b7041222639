import CLibPQ
import Foundation
import FeedModel
import struct Synchronization.Atomic

/// The one thing of a connection that other threads may hold: it ends what the connection waits for.
package final class PostgresCancellation: Sendable {
    let waker: PostgresWaker
    private let key = Mutex<CancelKey?>(nil)
    private let abandoned = Atomic(false)

    init() throws { waker = try PostgresWaker() }

    /// Asks the server to stop the statement that runs, which then fails with ``SQLState/queryCanceled``; nothing happens if
    /// none runs. Blocks while it connects to the server.
    ///
    /// - Throws: ``PostgresError`` if the request did not reach the server.
    package func cancel() throws {
        // Not under the lock: a server that does not answer would hold up whoever closes the connection.
        guard let key = key.withLock({ $0 }) else { return }
        try key.cancel()
    }

    /// Ends every wait at once, also for a server that does not answer: the connection counts as lost from here on.
    package func abandon() {
        abandoned.store(true, ordering: .releasing)
        waker.wake()
    }

    /// Does the same as ``abandon()``, and asks the server on another thread to stop the statement that runs.
    func giveUp() {
        if let key = key.withLock({ $0 }) { Thread.detachNewThread { try? key.cancel() } }
        abandon()
    }

    var isAbandoned: Bool { abandoned.load(ordering: .acquiring) }

    /// - Parameter connection: nil when it is closed.
    func follow(_ connection: OpaquePointer?) {
        let newKey = connection.flatMap { PQgetCancel($0) }.map { CancelKey($0) }
        key.withLock { $0 = newKey }
    }
}

/// Owns a `PGcancel`.
///
/// Unchecked: the pointer is no Sendable type, but never changes, and libpq lets any thread call `PQcancel`, several at once
/// ("Canceling Queries in Progress").
private final class CancelKey: @unchecked Sendable {
    private let key: OpaquePointer

    init(_ key: OpaquePointer) { self.key = key }

    deinit { PQfreeCancel(key) }

    func cancel() throws {
        var message = [CChar](repeating: 0, count: 256)
        guard PQcancel(key, &message, Int32(message.count)) == 1 else {
            let text = message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
            throw PostgresError(.connectionLost, "the statement cannot be cancelled: \(trimmed(text))")
        }
    }
}
