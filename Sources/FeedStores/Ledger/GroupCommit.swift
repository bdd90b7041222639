import FeedModel

/// Commits together the writes that arrive while another group is being written. When hundreds of feeds answer that
/// nothing has changed, their records then take a few transactions rather than one each.
///
/// Only for small writes that are not interrupted. Whole stacks are committed one by one.
package final class GroupCommit<Body: Sendable>: Sendable {
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

    package init() {}

    /// Returns when the write is in the store.
    ///
    /// - Parameters:
    ///   - body: the writes inside a transaction. They run again in another transaction if the first one fails.
    ///   - start: called if no group is being written. It arranges calls of ``commit(_:concernsAll:)`` until one returns
    ///     false.
    /// - Throws: the error of `body` or of the transaction.
    package func write(_ body: Body, start: () -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let isFirst = state.withLock { state in
                state.pending.append(Write(body: body) { continuation.resume(with: $0) })
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFirst { start() }
        }
    }

    /// Makes the writes that wait.
    ///
    /// - Parameters:
    ///   - transaction: makes all of them or none.
    ///   - concernsAll: returns true for errors that every write would meet.
    /// - Returns: true if others have come meanwhile.
    package func commit(_ transaction: ([Body]) throws -> Void, concernsAll: (any Error) -> Bool) -> Bool {
        let writes = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        let result = Result { try transaction(writes.map(\.body)) }
        if case .failure(let error) = result, writes.count > 1, !concernsAll(error) {
            // One of the writes is at fault, and must not make the others fail.
            for write in writes { write.end(Result { try transaction([write.body]) }) }
        } else {
            for write in writes { write.end(result) }
        }
        return state.withLock { state in
            state.isWriting = !state.pending.isEmpty
            return state.isWriting
        }
    }
}
