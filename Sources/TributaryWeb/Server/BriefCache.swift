/// Values that are made at most once a second each: many who look at the same thing cost as much as one.
actor BriefCache<Value: Sendable> {
    private struct Entry {
        let value: Task<Value, any Error>
        let begunAt: ContinuousClock.Instant
        var isMade = false
    }

    private let interval = Duration.seconds(1)
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void
    private var entries: [String: Entry] = [:]

    /// - Parameters:
    ///   - now: the clock.
    ///   - sleep: waits for a time of that clock; throws `CancellationError`.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// Returns the value of a key as it was at a time, or later: waits for the one that is being made, or until it may be
    /// made once more.
    ///
    /// - Parameter time: a second ago for nil, so that nobody waits for that.
    /// - Throws: `CancellationError`, and the errors of making it.
    func value(
        of key: String, since time: ContinuousClock.Instant? = nil, make: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let time = time ?? now() - interval
        entries = entries.filter { !$0.value.isMade || rest(of: $0.value) > .zero }
        while let known = entries[key] {
            if known.begunAt >= time { return try await known.value.value }
            let rest = rest(of: known)
            if rest > .zero {
                try await sleep(rest)
            } else if known.isMade {
                break
            } else {
                _ = await known.value.result
            }
        }
        let entry = Entry(value: Task { try await make() }, begunAt: now())
        entries[key] = entry
        let result = await entry.value.result
        entries[key]?.isMade = true
        return try result.get()
    }

    /// Returns the time until a value may be made once more.
    private func rest(of entry: Entry) -> Duration { interval - entry.begunAt.duration(to: now()) }
}
