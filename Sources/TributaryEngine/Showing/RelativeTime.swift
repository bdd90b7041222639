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
