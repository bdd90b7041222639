import FeedStaging
package import Foundation

/// Times as stores hold them in columns of text: `2026-11-21T08:30:00Z`, with milliseconds only where there are any.
///
/// As texts, those with milliseconds are below those of the same second without. So what compares times compares the
/// expressions that these functions make.
package enum TimeText {
    /// Returns an SQLite condition that a value is at least the smallest of others, as a time if it is one.
    ///
    /// - Parameters:
    ///   - least: returns the query for the smallest value of an expression.
    ///   - other: one of the others.
    package static func sqlite(
        _ value: String, isAtLeastTheSmallestOf other: String, _ least: (String) -> String
    ) -> String {
        func ordered(_ value: String) -> String {
            "CASE WHEN \(value) GLOB '????-??-??T??:??:??Z' THEN replace(\(value), 'Z', '.000Z') ELSE \(value) END"
        }
        // The first condition can use an index: no time is below its own second.
        let second = "CASE WHEN \(other) GLOB '\(time)' THEN substr(\(other), 1, 19) ELSE \(other) END"
        return """
            \(value) >= (\(least(second))) AND (\(value) NOT GLOB '\(time)' OR \(ordered(value)) >= (\(least(ordered(other)))))
            """
    }

    /// Returns the same for texts of PostgreSQL; those that are no times are in the order of their collation.
    package static func postgres(
        _ value: String, isAtLeastTheSmallestOf other: String, _ least: (String) -> String
    ) -> String {
        func ordered(_ value: String) -> String {
            "(CASE WHEN length(\(value)) = 20 THEN replace(\(value), 'Z', '.000Z') ELSE \(value) END) COLLATE \"C\""
        }
        let isTime = "\(value) LIKE '____-__-__T__:__:__%Z'"
        return """
            CASE WHEN \(isTime) THEN \(ordered(value)) >= (\(least(ordered(other)))) ELSE \(value) >= (\(least(other))) END
            """
    }

    private static let time = "????-??-??T??:??:??*Z"
}

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
