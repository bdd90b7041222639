package import FeedModel
import FeedStores
package import Foundation

/// Numbers and outcomes as text.
package enum Figures {
    package static func bytes(_ count: Int) -> String {
        switch Double(count) {
        case ..<1_000: "\(count) B"
        case ..<1_000_000: String(format: "%.1f kB", Double(count) / 1e3)
        case ..<1_000_000_000: String(format: "%.1f MB", Double(count) / 1e6)
        default: String(format: "%.2f GB", Double(count) / 1e9)
        }
    }

    /// Returns `37 ms`, `2.8 s`, `72 min` or `26 h`.
    package static func seconds(_ seconds: Double) -> String {
        switch seconds {
        case ..<1: String(format: "%.0f ms", seconds * 1000)
        case ..<120: String(format: "%.1f s", seconds)
        case ..<7200: String(format: "%.0f min", seconds / 60)
        default: String(format: "%.0f h", seconds / 3600)
        }
    }

    /// Returns an outcome in words: `not due`.
    package static func word(_ outcome: RunOutcome) -> String { outcome.rawValue.replacing("_", with: " ") }

    /// Returns `1 source`, `2 sources`.
    package static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// Returns `31 inserted, 2 updated, 1 deleted, 4 unchanged`, without figures that are 0.
    ///
    /// - Parameter number: writes a figure.
    package static func changes(_ report: RunReport, number: (Int) -> String = { String($0) }) -> String {
        let figures = [
            (report.counts.inserted, "inserted"), (report.counts.updated, "updated"),
            (report.counts.deleted, "deleted"),
            (report.counts.unchanged, "unchanged"), (report.counts.replaced, "replaced by others with the same key"),
            (report.skipped, "skipped"),
        ]
        let parts = figures.filter { $0.0 > 0 }.map { "\(number($0.0)) \($0.1)" }
        if parts.count == 1, report.counts.unchanged > 0 {
            return
                "no changes (\(number(report.counts.unchanged)) \(report.counts.unchanged == 1 ? "row" : "rows") unchanged)"
        }
        return parts.isEmpty ? "no rows" : parts.joined(separator: ", ")
    }

    /// Returns the summary of a run, without its source's name.
    package static func summary(_ report: RunReport, now: Date) -> String {
        switch report.outcome {
        case .committed:
            let kind = report.kind.map { "\($0.rawValue): " } ?? ""
            return kind + "\(changes(report)) (\(bytes(report.bytes)) in \(seconds(report.seconds)))"
                + (report.note.map { "; \($0)" } ?? "")
        case .unchanged:
            let seconds = seconds(report.seconds)
            // What has been fetched may be held back.
            guard let note = report.note else { return "nothing new on the server (\(seconds))" }
            return note + (report.bytes > 0 ? " (\(bytes(report.bytes)) in \(seconds))" : " (\(seconds))")
        case .notDue:
            if let note = report.error ?? report.note { return note }
            return report.nextDue.map { "due \(RelativeTime.text(max($0, now), now: now))" } ?? "not due"
        case .discarded, .blocked, .cancelled:
            return report.error ?? ""
        }
    }
}

extension RunReport {
    /// The outcome, and the kind of a run that is no refresh: `committed (undo to 41)`.
    package var outcomeText: String {
        outcome.rawValue + (kind.map { " (\($0.rawValue)\(restoredRun.map { " to \($0)" } ?? ""))" } ?? "")
    }
}

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
