import FeedModel
import Foundation
import TributaryEngine

/// A run, as the templates show it.
struct RunRowView {
    var number: String
    var address: String
    var startedAt: TimeView
    var outcome: String
    var kind: String
    var inserted: Int
    var updated: Int
    var deleted: Int
    var unchanged: Int
    var skipped: Int
    var bytes: String
    var seconds: String
    var error: String?

    init(_ run: RunReport) {
        number = run.number.map(String.init) ?? ""
        address = PageAddress.path(run.source, "/runs/\(number)")
        startedAt = TimeView(run.startedAt)
        let what = run.kind.map { " (\($0.rawValue)\(run.restoredRun.map { " to \($0)" } ?? ""))" } ?? ""
        outcome = run.outcome.rawValue + what
        kind = run.outcome.rawValue
        inserted = run.counts.inserted
        updated = run.counts.updated
        deleted = run.counts.deleted
        unchanged = run.counts.unchanged
        skipped = run.skipped
        bytes = Figures.bytes(run.bytes)
        seconds = Figures.seconds(run.seconds)
        error = run.error
    }
}

extension Int {
    /// The number with a comma between thousands.
    var grouped: String { formatted(.number.grouping(.automatic).locale(Locale(identifier: "en_US"))) }
}
