package import FeedConfiguration
package import FeedModel
package import Foundation

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
