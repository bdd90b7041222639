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
