import FeedConfiguration
import FeedFetching
import FeedInferring
import FeedModel

/// A further page that a request's first page names, and that the request does not follow.
struct FurtherPage {
    /// Where the page is named, and what was looked for: `the response has no '/json/cursor' and names …`.
    private let finding: String
    /// What to do, after a semicolon; empty if the page does not show it.
    private let advice: String
    /// True if the request follows pages, and does not find this one.
    let isMissed: Bool

    /// The remark of a run's report.
    var note: String {
        finding + (isMissed ? "" : ", and only the first one is read") + advice
    }

    /// The error of a request that would delete the rows of the other pages.
    func refusal(of request: RequestDeclaration) -> StackError {
        StackError(
            "\(request.url): \(finding), and mirroring this page alone would delete the rows of the others\(advice)")
    }

    /// Returns nil if the page names no other, or if the request follows it.
    ///
    /// - Parameters:
    ///   - response: the first page.
    ///   - hint: the place of its body that names a further one.
    ///   - found: the value at the path of the next page's token or address; nil if the page has no such place. An empty
    ///     one marks the last page.
    init?(
        in response: FeedResponse, of request: RequestDeclaration, _ hint: NextPageWatch.Hint?, found: String?
    ) {
        guard let paging = request.paging else {
            let place = hint.map { "at \($0.path)" } ?? LinkHeader.next(in: response).map { _ in "in its Link header" }
            guard let place else { return nil }
            let key = hint.map(\.key) ?? "page = { link = true }"
            finding = "the response names a further page, \(place)"
            advice = key.map { "; \($0) follows the pages" } ?? ""
            isMissed = false
            return
        }
        guard found == nil, let (key, written) = Self.path(of: paging) else { return nil }
        guard let hint, hint.kind != .possibleToken, key == "page.token" || hint.kind == .address else { return nil }
        finding = "the response has no '\(written)' and names a further page at \(hint.path)"
        advice = "; correct \(key)"
        isMissed = true
    }

    /// Returns the key and the path by which a page names the next one in its body; nil if it does not.
    static func path(of paging: PagingDeclaration) -> (key: String, written: String)? {
        switch paging.next {
        case .token(_, let written, _): ("page.token", written)
        case .path(_, let written): ("page.next", written)
        case .counter, .link: nil
        }
    }

    /// Returns the remark on a path that is that of another format; nil if it may be right.
    static func noteOnFormat(of request: RequestDeclaration, _ response: FeedResponse) -> String? {
        guard let (key, written) = request.paging.flatMap(path), response.mediaType.hasSuffix("json"),
            let root = written.split(separator: "/", omittingEmptySubsequences: false).dropFirst().first,
            !["json", "*", ""].contains(root)
        else { return nil }
        return "\(key) '\(written)' found nothing on page 1; paths of JSON begin with /json"
    }
}
