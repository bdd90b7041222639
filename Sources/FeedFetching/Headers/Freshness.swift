import FeedModel
import Foundation

/// The end of a response's freshness (RFC 9111, section 4.2). A pure function of the response's head and its time of
/// arrival.
enum Freshness {
    /// Returns the end of the freshness; nil if the response declares none, or is already stale.
    static func end(of response: FeedResponse, at now: Date) -> Date? {
        let directives = directives(of: response)
        if directives.keys.contains("no-cache") || directives.keys.contains("no-store") { return nil }
        let age = response[header: "Age"].flatMap(HTTPSeconds.parse) ?? 0
        // This is a private cache, to which s-maxage does not apply.
        if let text = directives["max-age"], let seconds = HTTPSeconds.parse(text) {
            let left = min(seconds, 365 * 86_400) - age
            return left > 0 ? now + left : nil
        }
        guard let expires = response[header: "Expires"].flatMap(HTTPDate.parse) else { return nil }
        let date = response[header: "Date"].flatMap(HTTPDate.parse) ?? now
        let left = min(expires.timeIntervalSince(date), 365 * 86_400) - age
        return left > 0 ? now + left : nil
    }

    /// Returns the directives by their names in lower case. Of two of a name, the first one counts (RFC 9111, section 4.2.1).
    private static func directives(of response: FeedResponse) -> [String: String] {
        var directives: [String: String] = [:]
        for header in response.headers where header.name.utf8.count == 13 && header.name.lowercased() == "cache-control"
        {
            for part in HTTPList.elements(of: header.value) {
                let pair = part.split(separator: "=", maxSplits: 1).map(\.withoutOuterSpace)
                guard let name = pair.first?.lowercased(), directives[name] == nil else { continue }
                directives[name] = pair.count > 1 ? pair[1].filter { $0 != "\"" } : ""
            }
        }
        return directives
    }
}
