/// Values as they were at most a second ago: many who look at the same thing cost as much as one.
actor BriefCache<Value: Sendable> {
    private static var lifetime: Duration { .seconds(1) }

    private struct Entry {
        let value: Task<Value, any Error>
        /// nil while it is being made.
        var madeAt: ContinuousClock.Instant?
    }

    private var entries: [String: Entry] = [:]

    /// Returns the value of a key, and makes it where there is none of the last second. A value that is being made is
    /// waited for, however long that takes.
    ///
    /// - Throws: the errors of making it.
    func value(of key: String, make: @escaping @Sendable () async throws -> Value) async throws -> Value {
        entries = entries.filter { $0.value.madeAt.map { $0.duration(to: .now) < Self.lifetime } ?? true }
        if let known = entries[key] { return try await known.value.value }
        let value = Task { try await make() }
        entries[key] = Entry(value: value)
        defer { entries[key]?.madeAt = .now }
        return try await value.value
    }
}
