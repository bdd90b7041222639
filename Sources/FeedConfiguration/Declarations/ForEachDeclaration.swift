import XMLStream

/// The repetition of a request for each row of a query.
public struct ForEachDeclaration: Sendable, Hashable {
    /// A SELECT. Staged rows are in the tables of the schema `staged`, the store's rows in those of `main`.
    package var query: String
    /// The most requests in progress at the same time.
    package var concurrency: Int
    /// The most rows. More of them discard the run.
    package var maxRequests: Int
    /// The most rows whose answer may be missing or wrong; nil if none may.
    package var maxSkipped: Int?

    /// What becomes of a row whose answer is missing or wrong.
    package enum OnError: String, Sendable, CaseIterable {
        /// The run is discarded.
        case discard
        /// The row is left out, and named.
        case skip
    }

    package static let defaultConcurrency = 2
    package static let defaultMaxRequests = 1_000
    package static let defaultMaxSkipped = 10
}

/// A value of a response that later requests of the stack may use, as `${capture:NAME}`.
public struct CaptureDeclaration: Sendable, Hashable {
    public package(set) var name: String
    /// The path of the value, from the root of the document.
    var path: XMLPath
    package var written: String
}
