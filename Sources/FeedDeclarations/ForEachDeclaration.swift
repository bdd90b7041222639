/// The repetition of a request for each row that earlier requests of its stack have staged.
public struct ForEachDeclaration: Sendable, Hashable {
    /// A SELECT. Staged rows are in the tables of the schema `staged`, the store's rows in those of `main`.
    package var query: String
    /// The most requests under way at the same time.
    package var concurrency: Int
    /// The most rows. More of them discard the run.
    package var maxRequests: Int

    package init(query: String, concurrency: Int, maxRequests: Int) {
        self.query = query
        self.concurrency = concurrency
        self.maxRequests = maxRequests
    }

    package static let defaultConcurrency = 2
    package static let defaultMaxRequests = 1_000
}
