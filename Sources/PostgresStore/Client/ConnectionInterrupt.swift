import CLibPQ
import FeedModel
import Foundation
import struct Synchronization.Atomic

/// The part of a connection that other threads may use: it ends what the connection waits for.
package final class ConnectionInterrupt: Sendable {
    private let key = Mutex<CancelKey?>(nil)
    private let abandoned = Atomic(false)
    /// The ends of a pipe, of which the first is readable once the connection has been abandoned.
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PostgresError(.connecting, "no pipe can be made: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Asks the server to cancel the statement in progress, which then fails with ``SQLState/queryCanceled``. Without a
    /// statement in progress, nothing happens. Blocks while it connects to the server.
    ///
    /// - Throws: ``PostgresError`` if the request did not reach the server.
    package func cancel() throws {
        // Not under the lock: a server that does not answer would delay the closing of the connection.
        guard let key = key.withLock({ $0 }) else { return }
        try key.cancel()
    }

    /// Ends every wait at once, also for a server that does not answer. The connection then counts as lost.
    package func abandon() {
        abandoned.store(true, ordering: .releasing)
        var byte: UInt8 = 0
        // A full pipe is readable already.
        _ = write(writeEnd, &byte, 1)
    }

    /// Does the same as ``abandon()``, and asks the server on another thread to cancel the statement.
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

extension Stop.Work {
    /// Work on a connection.
    init(_ connection: PostgresConnection) {
        let interrupt = connection.interrupt
        // A server that cannot be reached has nothing to cancel; the connection is abandoned soon.
        self.init(cancel: { try? interrupt.cancel() }, end: interrupt.abandon)
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
