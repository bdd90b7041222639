import FeedModel
import Foundation
import TributaryEngine

extension RunReport {
    /// Returns the run as the templates show it.
    ///
    /// - Parameter blocked: the counts of the rows that a blocked run would have changed; nil if unknown.
    func view(blocked: MergeCounts? = nil) -> View {
        let counts = outcome == .blocked ? blocked : self.counts
        func text(_ count: Int?) -> String { count?.grouped ?? "–" }
        let number = number.map(String.init) ?? ""
        return [
            "number": number, "address": PageAddress.path(source, "/runs/\(number)"), "startedAt": startedAt,
            // When the last of several polls ended.
            "lastPoll": lastPoll,
            "outcome": outcomeText + (polls > 1 ? ", \(polls.grouped) times" : ""),
            "kind": outcome.rawValue, "inserted": text(counts?.inserted),
            "updated": text(counts?.updated), "deleted": text(counts?.deleted),
            "unchanged": text(counts?.unchanged), "skipped": skipped.grouped, "bytes": Figures.bytes(bytes),
            "seconds": Figures.seconds(seconds),
            // The page of a blocked run has a button for what its error advises.
            "error": error.map(AcceptAdvice.removed),
        ]
    }
}

extension Int {
    /// The number with a comma between thousands.
    var grouped: String { formatted(.number.grouping(.automatic).locale(Locale(identifier: "en_US"))) }
}
