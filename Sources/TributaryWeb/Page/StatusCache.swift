import TributaryEngine

/// How all sources stand, as it was at most a second ago: many who look on ask the store once.
actor StatusCache {
    private static let lifetime = Duration.seconds(1)

    private let service: SyncService
    private let store: StoreQueue
    private var reading: Task<SourceTable, any Error>?
    private var readAt = ContinuousClock.now

    init(service: SyncService, store: StoreQueue) {
        self.service = service
        self.store = store
    }

    /// - Throws: `StoreError`.
    func current() async throws -> SourceTable {
        if let reading, readAt.duration(to: .now) < Self.lifetime { return try await reading.value }
        let configuration = service.configuration
        let task = Task { [store] in try await store.run { SourceTable(try StoreStatus(configuration, in: $0)) } }
        reading = task
        readAt = .now
        return try await task.value
    }
}
