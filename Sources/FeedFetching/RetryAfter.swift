import FeedModel
import Foundation

/// How long a server asks to be left alone (RFC 9110, section 10.2.3; RFC 6585, section 4).
package enum RetryAfter {
    /// A longer wait is honoured up to this.
    package static let longest = Duration.seconds(7 * 86_400)

    /// Nil where the server does not say, or says what cannot be understood.
    static func end(of response: FeedResponse, at now: Date) -> Date? {
        guard let text = response[header: "Retry-After"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        let seconds = HTTPSeconds.parse(text) ?? HTTPDate.parse(text)?.timeIntervalSince(now)
        guard let seconds, seconds > 0 else { return nil }
        return now + min(seconds, longest.seconds)
    }
}
