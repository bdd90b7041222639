import FeedDeclarations
import NIOHTTP1

/// Decides which of a request's headers go along where a response sends the request elsewhere.
enum HeaderPolicy {
    /// The headers that say nothing of who asks. All others may hold what was declared for the source's own hosts.
    private static let publicNames: Set = [
        "accept", "accept-encoding", "accept-language", "if-modified-since", "if-none-match", "if-range", "range",
        "user-agent",
    ]

    /// Returns true where a header may go to another origin.
    static func mayLeaveOrigin(_ name: String) -> Bool { publicNames.contains(name.lowercased()) }

    /// Returns true where a header speaks of the request's body, which a redirect to GET drops (RFC 9110, section 15.4).
    static func describesBody(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("content-")
            || ["digest", "expect", "last-modified", "soapaction", "transfer-encoding"].contains(name)
    }
}

extension HTTPHeaders {
    /// Returns the headers that may go to another origin.
    func leavingOrigin() -> HTTPHeaders { filtered(HeaderPolicy.mayLeaveOrigin) }

    /// Returns the headers of a request that has lost its body.
    func withoutBody() -> HTTPHeaders { filtered { !HeaderPolicy.describesBody($0) } }

    private func filtered(_ isKept: (String) -> Bool) -> HTTPHeaders {
        HTTPHeaders(filter { isKept($0.name) }.map { ($0.name, $0.value) })
    }
}

extension [String: InterpolatedText] {
    /// Returns the declared headers that may go to another origin.
    func leavingOrigin() -> Self { filter { HeaderPolicy.mayLeaveOrigin($0.key) } }
}
