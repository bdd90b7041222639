import FeedModel
import Foundation
import TributaryEngine

/// A run, as the templates show it.
struct RunRowView {
    var number: String
    var address: String
    var startedAt: TimeView
    /// When the last of several polls ended; nil for one.
    var lastPoll: TimeView?
    var outcome: String
    var kind: String
    var inserted: String
    var updated: String
    var deleted: String
    var unchanged: String
    var skipped: String
    var bytes: String
    var seconds: String
    var error: String?

    /// - Parameter blocked: the counts of the rows that a blocked run would have changed; nil if unknown.
    init(_ run: RunReport, blocked: MergeCounts? = nil) {
        let counts = run.outcome == .blocked ? blocked : run.counts
        func text(_ count: Int?) -> String { count?.grouped ?? "–" }
        number = run.number.map(String.init) ?? ""
        address = PageAddress.path(run.source, "/runs/\(number)")
        startedAt = TimeView(run.startedAt)
        lastPoll = run.lastPoll.map(TimeView.init)
        let what = run.kind.map { " (\($0.rawValue)\(run.restoredRun.map { " to \($0)" } ?? ""))" } ?? ""
        outcome = run.outcome.rawValue + what + (run.polls > 1 ? ", \(run.polls.grouped) times" : "")
        kind = run.outcome.rawValue
        inserted = text(counts?.inserted)
        updated = text(counts?.updated)
        deleted = text(counts?.deleted)
        unchanged = text(counts?.unchanged)
        skipped = run.skipped.grouped
        bytes = Figures.bytes(run.bytes)
        seconds = Figures.seconds(run.seconds)
        // The page of a blocked run has a button for what its error advises.
        error = run.error.map(AcceptAdvice.removed)
    }
}

extension Int {
    /// The number with a comma between thousands.
    var grouped: String { formatted(.number.grouping(.automatic).locale(Locale(identifier: "en_US"))) }
}
