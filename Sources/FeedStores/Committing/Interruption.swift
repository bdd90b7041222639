import FeedModel

/// Stops, from another thread, the database's work of one run: its scratch database's work or its commit. The work of
/// other runs goes on, although they may share the main store's connection.
package final class Interruption: Sendable {
    private struct State {
        /// Stops what runs on the connection in use.
        var stop: (@Sendable () -> Void)?
        var isRequested = false
        var onRequest: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())

    package init() {}

    package var isRequested: Bool { state.withLock(\.isRequested) }

    /// True while a body runs that it would stop.
    var isStoppable: Bool { state.withLock { $0.stop != nil } }

    /// - Throws: `CancellationError` where it was requested.
    package func check() throws {
        if isRequested { throw CancellationError() }
    }

    package func request() {
        let onRequest = state.withLock { state in
            state.isRequested = true
            // Under the lock, as the connection is another run's afterwards.
            state.stop?()
            return state.onRequest
        }
        onRequest()
    }

    /// Sets the action to call when the interruption is requested. Calls it at once if it already has been.
    package func onRequest(_ action: @escaping @Sendable () -> Void) {
        let isRequested = state.withLock { state in
            state.onRequest = action
            return state.isRequested
        }
        if isRequested { action() }
    }

    /// Runs a body that an interruption stops.
    ///
    /// - Parameter stop: makes the body's work fail, from any thread, as long as the body runs.
    /// - Throws: `CancellationError` where it was requested; the errors of the body.
    package func whileInterruptible<Value>(
        _ stop: @escaping @Sendable () -> Void, _ body: () throws -> Value
    ) throws -> Value {
        try state.withLock { state in
            guard !state.isRequested else { throw CancellationError() }
            state.stop = stop
        }
        defer { state.withLock { $0.stop = nil } }
        do {
            return try body()
        } catch {
            if state.withLock({ $0.isRequested }) { throw CancellationError() }
            throw error
        }
    }
}
