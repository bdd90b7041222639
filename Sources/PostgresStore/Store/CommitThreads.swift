import Foundation
import FeedModel

/// The threads on which stacks are committed, some at a time. Each holds a connection. Their callers' threads stay free
/// meanwhile.
final class CommitThreads: Sendable {
    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter connections: the most connections of the store. Half of them are left to questions and small writes.
    init(connections: Int) { limit = max(1, connections / 2) }

    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let work: @Sendable () -> Void = { continuation.resume(with: Result { try body() }) }
            let mayStart = state.withLock { state in
                guard state.running < limit else {
                    state.waiting.append(work)
                    return false
                }
                state.running += 1
                return true
            }
            if mayStart { Thread.detachNewThread { self.work(work) } }
        }
    }

    /// Does one piece of work after another, until none waits.
    private func work(_ first: @escaping @Sendable () -> Void) {
        var next: (@Sendable () -> Void)? = first
        while let work = next {
            work()
            next = state.withLock { state in
                guard !state.waiting.isEmpty else {
                    state.running -= 1
                    return nil
                }
                return state.waiting.removeFirst()
            }
        }
    }
}
