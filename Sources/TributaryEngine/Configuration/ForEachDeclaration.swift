/// How a request is repeated for each row that earlier requests of its stack have staged.
public struct ForEachDeclaration: Sendable, Hashable {
    /// A SELECT; staged rows are in the tables of the schema `staged`, the store's in those of `main`.
    var query: String
    /// Requests under way at the same time.
    var concurrency: Int
    /// More rows discard the run.
    var maxRequests: Int

    static let defaultConcurrency = 2
    static let defaultMaxRequests = 1_000
}
