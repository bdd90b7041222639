import Foundation
import Synchronization

/// Runs work that may block for long, each on a thread of its own: never on those that tasks share.
enum BlockingWork {
    /// Tells work whether the task that waits for it was cancelled.
    final class Cancellation: Sendable {
        private let isRequested = Atomic(false)

        fileprivate func request() { isRequested.store(true, ordering: .relaxed) }

        /// - Throws: `CancellationError` once the task is cancelled.
        func check() throws { if isRequested.load(ordering: .relaxed) { throw CancellationError() } }
    }

    /// - Parameter work: asks again and again whether it is cancelled.
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
