package import FeedDeclarations
package import FeedModel
package import Foundation

/// Hints of one run's responses about the time of the next run.
package struct PollHints: Sendable, Equatable {
    /// The earliest end of the freshness that the responses claim; nil as soon as one of them claims none.
    package var freshUntil: Date? { saysNothing ? nil : leastFresh }
    private var leastFresh: Date?
    /// True if a response claims no freshness.
    private var saysNothing = false
    /// True if any response came over HTTP.
    package private(set) var isHTTP = false
    /// False if a response over HTTP brought neither freshness nor validators.
    package private(set) var haveValidators = true
    /// The time until which a server asked for no requests, and the status of that answer.
    package var retryAt: Date?
    package var retryStatus: Int?
    /// The origin that answered 429. No request goes there until `retryAt`.
    package var busyOrigin: Origin?
    /// The address of a feed that is gone (410).
    package var gone: String?
    /// The new addresses of requests that have moved for good, by key.
    package var moved: [String: String] = [:]

    package init() {}

    /// Takes a response's head into account.
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
        case 429, 503:
            retryStatus = response.status
            retryAt = RetryAfter.end(of: response, at: now)
            if response.status == 429 { busyOrigin = origin }
        default:
            break
        }
    }
}
