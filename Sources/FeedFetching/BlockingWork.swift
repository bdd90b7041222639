import Foundation
import Synchronization

/// Runs blocking work, each call on a thread of its own, and never on the cooperative pool.
enum BlockingWork {
    /// The cancellation of the task that waits for the work.
    final class Cancellation: Sendable {
        private let isRequested = Atomic(false)

        fileprivate func request() { isRequested.store(true, ordering: .relaxed) }

        /// - Throws: `CancellationError` once the task is cancelled.
        func check() throws { if isRequested.load(ordering: .relaxed) { throw CancellationError() } }
    }

    /// - Parameter work: calls ``Cancellation/check()`` repeatedly.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable (Cancellation) throws -> Value
    ) async throws -> Value {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try work(cancellation) }) }
            }
        } onCancel: {
            cancellation.request()
        }
    }
}
