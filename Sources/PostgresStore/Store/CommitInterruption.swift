import FeedStaging
import FeedStores
import Foundation
import FeedModel

/// Stops a commit from another thread. Commits of other runs continue.
final class CommitInterruption: Sendable {
    private struct State {
        var isRequested = false
        var cancellation: PostgresCancellation?
        /// Ends a wait of the commit outside of the server.
        var endWait: (@Sendable () -> Void)?
    }

    /// The time that a server has to answer that it has stopped. Then its connection is given up.
    private static let timeLimit = 2.0

    private let state = Mutex(State())
    private let requested = DispatchSemaphore(value: 0)

    var isRequested: Bool { state.withLock(\.isRequested) }

    /// Runs a body that ends early, with `CancellationError`, when the interruption is requested.
    static func follow<Value>(_ interruption: Interruption, _ body: (CommitInterruption) throws -> Value) throws
        -> Value
    {
        let own = CommitInterruption()
        interruption.onRequest { own.request() }
        defer { interruption.onRequest {} }
        return try body(own)
    }

    func request() {
        let isFirst = state.withLock { state in
            defer { state.isRequested = true }
            return !state.isRequested
        }
        guard isFirst else { return }
        requested.signal()
        state.withLock(\.endWait)?()
        if state.withLock({ $0.cancellation != nil }) { stop() }
    }

    /// Runs the part of a commit that may be stopped: the statements before COMMIT. Once the interruption has been
    /// requested, the connection is of no further use, as a late cancellation may still reach it.
    func whileInterruptible<Value>(_ connection: PostgresConnection, _ body: () throws -> Value) throws -> Value {
        try state.withLock { state in
            guard !state.isRequested else { throw CancellationError() }
            state.cancellation = connection.cancellation
        }
        let result = Result { try body() }
        let isRequested = state.withLock { state in
            state.cancellation = nil
            return state.isRequested
        }
        if isRequested { throw CancellationError() }
        return try result.get()
    }

    /// Waits for a semaphore that another thread signals once.
    ///
    /// - Throws: `CancellationError` where the interruption is requested.
    func wait(for semaphore: DispatchSemaphore) throws {
        onRequest { semaphore.signal() }
        semaphore.wait()
        onRequest(nil)
        if isRequested { throw CancellationError() }
    }

    /// Calls a body when the interruption is requested: at once where it has been. One body at a time; nil for none.
    func onRequest(_ body: (@Sendable () -> Void)?) {
        let isRequested = state.withLock { state in
            state.endWait = body
            return state.isRequested
        }
        if isRequested { body?() }
    }

    /// Waits before another attempt.
    func pause(_ seconds: Double) throws {
        if !isRequested, requested.wait(timeout: .now() + seconds) == .timedOut { return }
        throw CancellationError()
    }

    /// Cancels statement after statement, as a cancellation between two of them stops neither. Asking the server may
    /// block, so giving it up is another thread's work.
    private func stop() {
        Thread.detachNewThread { [self] in
            while let cancellation = state.withLock(\.cancellation) {
                // Where the server cannot be reached, the other thread gives it up.
                try? cancellation.cancel()
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
        Thread.detachNewThread { [self] in
            Thread.sleep(forTimeInterval: Self.timeLimit)
            state.withLock(\.cancellation)?.abandon()
        }
    }
}
