import FeedModel

/// Measures the time during which at least one of several tasks did not wait for a host's permit or rate limit.
///
/// A task that only waits for other tasks of them counts as waiting.
package final class ActiveTime: Sendable {
    private struct State {
        var tasks = 0
        var waiting = 0
        var total = Duration.zero
        /// The uptime at which the number of active tasks changed last.
        var since = Duration.zero
    }

    private let uptime: @Sendable () -> Duration
    private let state = Mutex(State())

    /// - Parameter uptime: the time since an arbitrary fixed moment.
    package init(uptime: @escaping @Sendable () -> Duration) { self.uptime = uptime }

    /// The time so far.
    package var total: Duration {
        change { _ in }
        return state.withLock(\.total)
    }

    /// Notes that a task begins.
    package func begin() { change { $0.tasks += 1 } }

    /// Notes that a task has ended.
    package func end() { change { $0.tasks -= 1 } }

    /// Notes that a task begins to wait.
    package func pause() { change { $0.waiting += 1 } }

    /// Notes that a task no longer waits.
    package func resume() { change { $0.waiting -= 1 } }

    /// Measures a wait.
    package func waiting<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        pause()
        defer { resume() }
        return try await body()
    }

    private func change(_ body: (inout State) -> Void) {
        let now = uptime()
        state.withLock { state in
            // Another task may have read the clock later, and entered first.
            if state.tasks > state.waiting { state.total += max(.zero, now - state.since) }
            state.since = max(state.since, now)
            body(&state)
        }
    }
}
