/// Runs an operation, and cancels it at its deadline.
///
/// - Parameter paused: returns the time that does not count.
/// - Throws: the operation's error; that of `timeout` after the deadline.
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
                // Sleeps for at least 100 ms while a pause lasts.
                rest = more > .milliseconds(1) ? max(more, .milliseconds(100)) : .zero
            }
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let value = first else {
            group.cancelAll()
            // Waits for the end of the operation, so that its resources are free.
            while let outcome = await group.nextResult() { _ = outcome }
            throw timeout()
        }
        return value
    }
}
