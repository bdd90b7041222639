import FeedStaging
package import Foundation

/// Points in time in the format of Tributary's own tables: `2026-11-21T08:30:00.000Z`, which sorts as text. A run
/// writes and reads a dozen of them.
package enum StoreDate {
    package static func text(_ date: Date) -> String {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        guard let text = UTCText.storeDate(milliseconds) else {
            return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        }
        return text
    }

    package static func date(_ text: String?) -> Date? {
        guard let text else { return nil }
        return UTCText.date(text)
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}
