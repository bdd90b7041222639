import FeedModel
import Foundation

/// What the responses of one run say about when to come back.
struct PollAdvice: Sendable, Equatable {
    /// The latest end of the freshness that responses claim.
    var freshUntil: Date?
    /// Whether any response came over HTTP, and whether all of those had validators.
    var isHTTP = false
    var haveValidators = true
    /// Until when a server asked to be left alone, and what it answered.
    var retryAt: Date?
    var retryStatus: Int?
    /// The origin that answered 429: all of it is left alone.
    var busyOrigin: String?
    /// A feed that is no more, by its address.
    var gone: String?
    /// Requests that have moved for good, with where to.
    var moved: [String: String] = [:]

    /// Takes a response's head into account.
    mutating func note(_ response: FeedResponse, origin: String, at now: Date) {
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
