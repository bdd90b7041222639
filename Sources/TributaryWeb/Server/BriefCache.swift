/// Values as they were at most a second ago: many who look at the same thing cost as much as one.
actor BriefCache<Value: Sendable> {
    private static var lifetime: Duration { .seconds(1) }

    private var values: [String: (value: Task<Value, any Error>, madeAt: ContinuousClock.Instant)] = [:]

    /// Returns the value of a key, and makes it where there is none of the last second. A value that is being made is
    /// waited for.
    ///
    /// - Throws: the errors of making it.
    func value(of key: String, make: @escaping @Sendable () async throws -> Value) async throws -> Value {
        values = values.filter { $0.value.madeAt.duration(to: .now) < Self.lifetime }
        if let known = values[key] { return try await known.value.value }
        let value = Task { try await make() }
        values[key] = (value, .now)
        return try await value.value
    }
}
