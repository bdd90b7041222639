package import FeedConfiguration
package import FeedModel
package import Foundation

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

/// The hints of a run's responses about the time of the next run.
package struct PollHints: Sendable, Equatable {
    /// The earliest end of the responses' freshness; nil if one of them declares none.
    package var freshUntil: Date? { saysNothing ? nil : leastFresh }
    private var leastFresh: Date?
    /// True if a response declares no freshness.
    private var saysNothing = false
    /// True if a response came over HTTP.
    package private(set) var isHTTP = false
    /// False if a response over HTTP has neither freshness nor validators.
    package private(set) var haveValidators = true
    /// The wait that a busy server has requested. It receives no request until the end.
    package var wait: RequestedWait?
    /// The address of a feed that is gone (410).
    package var gone: String?
    /// The new addresses of permanently moved requests, by key.
    package var moved: [String: String] = [:]

    package init() {}

    /// Notes the hints of a response's head.
    package mutating func note(_ response: FeedResponse, origin: Origin, at now: Date) {
        isHTTP = isHTTP || origin.scheme.hasPrefix("http")
        switch response.status {
        case 200..<300, 304:
            if let end = Freshness.end(of: response, at: now) {
                leastFresh = min(leastFresh ?? end, end)
            } else {
                saysNothing = true
                if response.status != 304, response.validators.isEmpty { haveValidators = false }
            }
        case 410:
            gone = response.requestedURL
        case let status where RetryAfter.statuses.contains(status):
            wait = RequestedWait(origin: origin, status: status, end: RetryAfter.end(of: response, at: now))
        default:
            break
        }
    }
}
