package import FeedModel
package import Foundation

/// What the responses of one run say about when to come back.
package struct PollAdvice: Sendable, Equatable {
    /// The latest end of the freshness that responses claim.
    package var freshUntil: Date?
    /// Whether any response came over HTTP, and whether all of those had validators.
    package var isHTTP = false
    package var haveValidators = true
    /// Until when a server asked to be left alone, and what it answered.
    package var retryAt: Date?
    package var retryStatus: Int?
    /// The origin that answered 429: all of it is left alone.
    package var busyOrigin: String?
    /// A feed that is no more, by its address.
    package var gone: String?
    /// Requests that have moved for good, with where to.
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
