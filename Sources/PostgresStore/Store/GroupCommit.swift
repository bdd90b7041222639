import FeedStores
import FeedModel
import Foundation
import PostgresClient
import Synchronization

/// Commits together the writes that arrive while another group is being written. When hundreds of feeds answer that
/// nothing has changed, their records then take a few transactions rather than one each.
///
/// Only for small writes that are not interrupted. Whole stacks are committed one by one.
final class GroupCommit: Sendable {
    typealias Body = @Sendable (PostgresConnection) throws -> RecordedRun?

    private struct Write {
        var body: Body
        /// Called on the writing thread.
        var end: @Sendable (Result<Void, any Error>) -> Void
    }

    private struct State {
        var pending: [Write] = []
        var isWriting = false
    }

    private let state = Mutex(State())

    /// Returns when the write is in the store.
    ///
    /// - Parameters:
    ///   - body: runs inside a transaction, and once more in another one if the first fails.
    /// - Throws: the error of `body` or of the transaction.
    func write(to store: PostgresStore, _ body: @escaping Body) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let isFirst = state.withLock { state in
                state.pending.append(Write(body: body) { continuation.resume(with: $0) })
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFirst { Thread.detachNewThread { self.writeAll(to: store) } }
        }
    }

    /// Writes one group after another, until nobody waits.
    private func writeAll(to store: PostgresStore) {
        while true {
            let writes = state.withLock { state in
                defer { state.pending = [] }
                state.isWriting = !state.pending.isEmpty
                return state.pending
            }
            if writes.isEmpty { return }
            commit(writes, to: store)
        }
    }

    private func commit(_ writes: [Write], to store: PostgresStore) {
        let result = Result { try transaction(writes, store) }
        if case .failure(let error) = result, writes.count > 1, !error.concernsAllWrites {
            // One of the writes is at fault, and must not make the others fail.
            for write in writes { write.end(Result { try transaction([write], store) }) }
        } else {
            for write in writes { write.end(result) }
        }
    }

    /// Writes in one transaction, and once more where that may help.
    private func transaction(_ writes: [Write], _ store: PostgresStore) throws {
        var run: RecordedRun?
        func attempt() throws {
            run = nil
            try store.transaction { connection in
                for write in writes { run = try write.body(connection) ?? run }
            }
        }
        do {
            try attempt()
        } catch let error as PostgresError where error.isRepeatable || error.isCommitUnknown {
            // All were committed, or none.
            if error.isCommitUnknown, let run, try store.isRecorded(run) { return }
            store.connections.forgetIdle()
            try attempt()
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
