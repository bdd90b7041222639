import Foundation

/// A point in time as an argument: `2026-11-17`, which is its beginning in UTC, or `2026-11-17T14:30[:15][Z|+01:00]`.
enum TimeArgument {
    /// - Throws: ``Failure`` naming the option.
    static func time(_ text: String, option: String) throws -> Date {
        let parts = text.split(separator: /[T ]/, maxSplits: 1)
        var full = String(parts.first ?? "")
        var clock = parts.count > 1 ? String(parts[1]) : "00:00:00Z"
        if let match = clock.wholeMatch(of: /(\d\d:\d\d)(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?/) {
            clock = "\(match.1)\(match.2 ?? ":00")\(match.3 ?? "")\(match.4 ?? "Z")"
        }
        full += "T" + clock
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: clock.contains("."))
        guard let date = try? Date(full, strategy: style) else {
            throw Failure.usage("\(option) \(text): write the number of a run, or a time such as 2026-11-17T14:30Z")
        }
        return date
    }
}
