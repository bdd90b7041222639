package import Foundation

/// Points in time as Tributary's own tables keep them: `2026-11-21T08:30:00.000Z`, which sorts as text.
package enum StoreDate {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    package static func text(_ date: Date) -> String { date.formatted(style) }

    package static func date(_ text: String?) -> Date? { text.flatMap { try? Date($0, strategy: style) } }
}
