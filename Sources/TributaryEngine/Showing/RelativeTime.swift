package import Foundation

/// Times relative to now: `3 min ago`, `in 2 h`.
package enum RelativeTime {
    package static func text(_ date: Date, now: Date) -> String {
        let seconds = date.timeIntervalSince(now)
        if abs(seconds) < 1 { return "now" }
        let duration = duration(abs(seconds))
        return seconds < 0 ? "\(duration) ago" : "in \(duration)"
    }

    package static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<60: "\(Int(seconds)) s"
        case ..<3600: "\(Int(seconds / 60)) min"
        case ..<(48 * 3600): "\(Int(seconds / 3600)) h"
        default: "\(Int(seconds / 86_400)) days"
        }
    }
}

/// Times in arguments: `2026-11-17`, which is the start of that day in UTC, or `2026-11-17T14:30[:15][Z|+01:00]`.
package enum WrittenTime {
    /// Returns nil for an invalid time.
    package static func date(_ text: String) -> Date? {
        let parts = text.split(separator: /[T ]/, maxSplits: 1)
        var full = String(parts.first ?? "")
        var clock = parts.count > 1 ? String(parts[1]) : "00:00:00Z"
        if let match = clock.wholeMatch(of: /(\d\d:\d\d)(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?/) {
            clock = "\(match.1)\(match.2 ?? ":00")\(match.3 ?? "")\(match.4 ?? "Z")"
        }
        full += "T" + clock
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: clock.contains("."))
        return try? Date(full, strategy: style)
    }
}
