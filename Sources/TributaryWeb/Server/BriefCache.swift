/// Values that are made at most once a second each: many who look at the same thing cost as much as one.
actor BriefCache<Value: Sendable> {
    private static var interval: Duration { .seconds(1) }

    private struct Entry {
        let value: Task<Value, any Error>
        let begunAt: ContinuousClock.Instant
        var isMade = false

        var rest: Duration { BriefCache.interval - begunAt.duration(to: .now) }
    }

    private var entries: [String: Entry] = [:]

    /// Returns the value of a key as it was at a time, or later: waits for the one that is being made, or until it may be
    /// made once more.
    ///
    /// - Parameter time: a second ago for nil, so that nobody waits for that.
    /// - Throws: `CancellationError`, and the errors of making it.
    func value(
        of key: String, since time: ContinuousClock.Instant? = nil, make: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let time = time ?? .now - Self.interval
        entries = entries.filter { !$0.value.isMade || $0.value.rest > .zero }
        while let known = entries[key] {
            if known.begunAt >= time { return try await known.value.value }
            if known.rest > .zero {
                try await Task.sleep(for: known.rest)
            } else if known.isMade {
                break
            } else {
                _ = await known.value.result
            }
        }
        let entry = Entry(value: Task { try await make() }, begunAt: .now)
        entries[key] = entry
        let result = await entry.value.result
        entries[key]?.isMade = true
        return try result.get()
    }
}
