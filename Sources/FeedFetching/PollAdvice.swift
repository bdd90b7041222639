package import FeedModel
package import Foundation

/// Advice from one run's responses about the time of the next run.
package struct PollAdvice: Sendable, Equatable {
    /// The latest end of the freshness that responses claim.
    package var freshUntil: Date?
    /// True if any response came over HTTP. `haveValidators` is true if all those had validators.
    package var isHTTP = false
    package var haveValidators = true
    /// The time until which a server asked for no requests, and the status of that answer.
    package var retryAt: Date?
    package var retryStatus: Int?
    /// The origin that answered 429. No request goes there until `retryAt`.
    package var busyOrigin: String?
    /// The address of a feed that is gone (410).
    package var gone: String?
    /// The new addresses of requests that have moved for good, by key.
    package var moved: [String: String] = [:]

    package init(
        freshUntil: Date? = nil, isHTTP: Bool = false, haveValidators: Bool = true, retryAt: Date? = nil,
        retryStatus: Int? = nil, busyOrigin: String? = nil, gone: String? = nil, moved: [String: String] = [:]
    ) {
        self.freshUntil = freshUntil
        self.isHTTP = isHTTP
        self.haveValidators = haveValidators
        self.retryAt = retryAt
        self.retryStatus = retryStatus
        self.busyOrigin = busyOrigin
        self.gone = gone
        self.moved = moved
    }

    /// Takes a response's head into account.
    package mutating func note(_ response: FeedResponse, origin: String, at now: Date) {
        isHTTP = isHTTP || !origin.hasPrefix("file:")
        switch response.status {
        case 200..<300, 304:
            if let end = Freshness.end(of: response, at: now) { freshUntil = max(freshUntil ?? end, end) }
            if response.status != 304, response.validators.isEmpty { haveValidators = false }
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
