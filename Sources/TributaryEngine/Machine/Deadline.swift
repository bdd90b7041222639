/// Runs an operation, and cancels it if it is not done in time.
///
/// - Parameter paused: returns the time that the operation has spent on what does not count.
/// - Throws: the operation's error, or the one made by `timeout` if the time is up first.
func withDeadline<Value: Sendable>(
    _ limit: Duration, clock: any RunClock, paused: @escaping @Sendable () -> Duration = { .zero },
    timeout: @escaping @Sendable () -> any Error,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            let began = clock.uptime
            var rest = limit
            while rest > .zero {
                try await clock.sleep(for: rest)
                let pauses = paused()
                guard pauses > .zero else { break }
                let more = limit + pauses - (clock.uptime - began)
                // Not a moment at a time while a pause goes on.
                rest = more > .milliseconds(1) ? max(more, .milliseconds(100)) : .zero
            }
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let value = first else {
            group.cancelAll()
            // Waits until the operation has released what it used, before others use it.
            while let outcome = await group.nextResult() { _ = outcome }
            throw timeout()
        }
        return value
    }
}
