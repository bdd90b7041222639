import XMLStream

/// The repetition of a request for each row of a query, or for each span of a time.
public struct ForEachDeclaration: Sendable, Hashable {
    package enum Rows: Sendable, Hashable {
        /// A SELECT. Staged rows are in the tables of the schema `staged`, the store's rows in those of `main`.
        case query(String)
        case slices(SliceDeclaration)
    }

    package var rows: Rows
    /// The most requests in progress at the same time.
    package var concurrency = defaultConcurrency
    /// The most rows. More of them discard the run.
    package var maxRequests = defaultMaxRequests
    /// The most rows whose answer may be missing or wrong; nil if none may.
    package var maxSkipped: Int?

    /// The query; nil for spans.
    package var query: String? { if case .query(let query) = rows { query } else { nil } }

    /// The key that declares it.
    package var key: String { query == nil ? "slices" : "for_each" }

    /// A text that changes with the declared rows.
    var identity: String {
        switch rows {
        case .query(let query): query
        case .slices(let slices): slices.identity
        }
    }

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
