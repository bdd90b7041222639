import XMLStream

/// How a request is repeated for page after page; all pages are one request of the stack.
public struct PagingDeclaration: Sendable, Hashable {
    enum Next: Sendable, Hashable {
        /// The address of the next page stands at this path; the page without one is the last.
        case path(XMLPath, written: String)
        /// A parameter counts; the page without a record is the last.
        case counter(parameter: String, start: Int, step: Int)
    }

    var next: Next
    /// A request with more pages discards the run.
    var maxPages: Int

    static let defaultMaxPages = 100
}
