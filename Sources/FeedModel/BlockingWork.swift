import Foundation
import struct Synchronization.Atomic

/// Runs blocking work, each call on a thread of its own, and never on the cooperative pool or a dispatch queue.
package enum BlockingWork {
    /// The cancellation of the task that waits for the work.
    package final class Cancellation: Sendable {
        private let isRequested = Atomic(false)

        fileprivate func request() { isRequested.store(true, ordering: .relaxed) }

        /// - Throws: `CancellationError` once the task is cancelled.
        package func check() throws { if isRequested.load(ordering: .relaxed) { throw CancellationError() } }
    }

    /// The caller of the work, until it has a result.
    private final class Call<Value: Sendable>: Sendable {
        private enum State {
            case beginning
            case waiting(CheckedContinuation<Value, any Error>)
            case ended
        }

        private let state = Mutex(State.beginning)

        /// - Returns: false if the task is cancelled already. The caller then has its result.
        func begin(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
            let begins = state.withLock { state in
                guard case .beginning = state else { return false }
                state = .waiting(continuation)
                return true
            }
            if !begins { continuation.resume(throwing: CancellationError()) }
            return begins
        }

        /// Passes a result to the caller, unless it has one.
        func end(_ result: Result<Value, any Error>) {
            let former = state.withLock { state in
                defer { state = .ended }
                return state
            }
            if case .waiting(let continuation) = former { continuation.resume(with: result) }
        }
    }

    /// Runs `work` and returns its result.
    ///
    /// A cancelled call returns at once. It abandons a thread that the system blocks, as the status of a file does on a
    /// server that does not answer. That thread ends when the system answers.
    ///
    /// - Parameter work: calls ``Cancellation/check()`` repeatedly.
    /// - Throws: the errors of `work`; `CancellationError`.
    package static func run<Value: Sendable>(
        _ work: @escaping @Sendable (Cancellation) throws -> Value
    ) async throws -> Value {
        let cancellation = Cancellation()
        let call = Call<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard call.begin(continuation) else { return }
                Thread.detachNewThread { call.end(Result { try work(cancellation) }) }
            }
        } onCancel: {
            cancellation.request()
            call.end(.failure(CancellationError()))
        }
    }
}
