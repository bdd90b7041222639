package import FeedModel
package import Foundation

/// The wait that a server asks for with Retry-After (RFC 9110, section 10.2.3; RFC 6585, section 4).
package enum RetryAfter {
    /// The longest wait that is honoured; a longer one is cut to it.
    package static let longest = Duration.seconds(7 * 86_400)

    /// Returns the end of the wait; nil if the server gives none, or one that cannot be read.
    package static func end(of response: FeedResponse, at now: Date) -> Date? {
        response[header: "Retry-After"].flatMap { end(of: $0, at: now) }
    }

    /// - Parameter header: the value of the header.
    static func end(of header: String, at now: Date) -> Date? {
        let text = header.trimmingCharacters(in: .whitespaces)
        let seconds = HTTPSeconds.parse(text) ?? HTTPDate.parse(text)?.timeIntervalSince(now)
        guard let seconds, seconds > 0 else { return nil }
        return now + min(seconds, longest.seconds)
    }
}
