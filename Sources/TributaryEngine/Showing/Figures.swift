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
