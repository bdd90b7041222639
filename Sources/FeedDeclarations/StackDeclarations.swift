package import XMLStream

/// The repetition of a request for page after page. All pages count as one request of the stack.
public struct PagingDeclaration: Sendable, Hashable {
    package enum Next: Sendable, Hashable {
        /// The path of the next page's address. A page without one is the last.
        case path(XMLPath, written: String)
        /// A parameter that counts. A page without a record is the last.
        case counter(parameter: String, start: Int, step: Int)
    }

    package var next: Next
    /// The most pages. A request with more discards the run.
    package var maxPages: Int

    package init(next: Next, maxPages: Int) {
        self.next = next
        self.maxPages = maxPages
    }

    package static let defaultMaxPages = 100
}

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

/// A value of a response that later requests of the stack may use, as `${capture:NAME}`.
public struct CaptureDeclaration: Sendable, Hashable {
    public package(set) var name: String
    /// The path of the value, from the root of the document.
    var path: XMLPath
    package var written: String

    package init(name: String, path: XMLPath, written: String) {
        self.name = name
        self.path = path
        self.written = written
    }
}
