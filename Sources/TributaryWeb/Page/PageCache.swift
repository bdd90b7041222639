/// The pages that are followed, as they were at most a second ago: many who look at the same page cost as much as one.
actor PageCache {
    private static let lifetime = Duration.seconds(1)

    private var pages: [String: (page: Task<Page?, any Error>, madeAt: ContinuousClock.Instant)] = [:]

    /// - Parameter address: the page's path and query.
    /// - Throws: the errors of making it.
    func page(
        _ address: String, make: @escaping @Sendable () async throws -> Page?
    ) async throws -> Page? {
        if let known = pages[address], known.madeAt.duration(to: .now) < Self.lifetime {
            return try await known.page.value
        }
        pages = pages.filter { $0.value.madeAt.duration(to: .now) < Self.lifetime }
        let page = Task { try await make() }
        pages[address] = (page, .now)
        return try await page.value
    }
}
