package import XMLStream

/// How a request is repeated for page after page; all pages are one request of the stack.
public struct PagingDeclaration: Sendable, Hashable {
    package enum Next: Sendable, Hashable {
        /// The address of the next page stands at this path; the page without one is the last.
        case path(XMLPath, written: String)
        /// A parameter counts; the page without a record is the last.
        case counter(parameter: String, start: Int, step: Int)
    }

    package var next: Next
    /// A request with more pages discards the run.
    package var maxPages: Int

    package init(next: Next, maxPages: Int) {
        self.next = next
        self.maxPages = maxPages
    }

    package static let defaultMaxPages = 100
}

/// How a request is repeated for each row that earlier requests of its stack have staged.
public struct ForEachDeclaration: Sendable, Hashable {
    /// A SELECT; staged rows are in the tables of the schema `staged`, the store's in those of `main`.
    package var query: String
    /// Requests under way at the same time.
    package var concurrency: Int
    /// More rows discard the run.
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
    /// From the root of the document.
    var path: XMLPath
    package var written: String

    package init(name: String, path: XMLPath, written: String) {
        self.name = name
        self.path = path
        self.written = written
    }
}
