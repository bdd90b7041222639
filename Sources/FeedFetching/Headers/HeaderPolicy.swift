import FeedConfiguration
import NIOHTTP1

/// Decides which headers of a request are kept when a response redirects it or names its address.
enum HeaderPolicy {
    /// The headers without secrets. All others may have values that are declared for the source's own hosts.
    private static let publicNames: Set = [
        "accept", "accept-encoding", "accept-language", "if-modified-since", "if-none-match", "if-range", "range",
        "user-agent",
    ]

    /// Returns true if a header may go to another origin.
    static func mayLeaveOrigin(_ name: String) -> Bool { publicNames.contains(name.lowercased()) }

    /// Returns true if a header describes the request's body, which a redirect to GET drops (RFC 9110, section 15.4).
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
