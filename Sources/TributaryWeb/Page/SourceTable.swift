import FeedModel
import Foundation
import TributaryEngine

/// All sources as they stood at one moment, with what the list asks of each. It is made once for all who look on: ten
/// thousand sources are searched, counted and ordered by columns, and only those that are shown are looked at whole.
struct SourceTable: Sendable {
    let sources: [SourceStatus]
    let names: [String]
    let conditions: [SourceCondition]
    /// Name and error in lower case, for the search.
    let texts: [String]
    /// What is the same in the errors of several sources; nil where a source has none.
    let causes: [ProblemCause?]
    let common: CauseList
    let successes: [Date]
    let dueTimes: [Date]
    /// True for a source that some process was running.
    let areRunning: [Bool]
    let hooks: [HookStatus]
    let daemons: SharedDaemons?
    /// The number of sources that somebody should look at.
    let problems: Int
    /// How they stand: `2 failing, 1 blocked`.
    let problemWords: String

    init(_ status: StoreStatus) {
        // Most stores have no others, and then nothing is copied.
        sources = status.undeclared.isEmpty ? status.sources : status.sources + status.undeclared
        names = sources.map(\.state.source)
        conditions = sources.map(\.condition)
        texts = sources.map { ($0.state.source + "\n" + ($0.state.error ?? "")).lowercased() }
        causes = sources.map { $0.state.error.map(ProblemCause.init) }
        common = CauseList(causes)
        successes = sources.map { $0.state.lastGood ?? .distantPast }
        dueTimes = sources.map { $0.state.nextDue ?? .distantPast }
        areRunning = sources.map(\.isRunning)
        hooks = status.hooks
        daemons = status.daemons
        let open = sources.filter(\.isProblem)
        problems = open.count
        let counts = Dictionary(grouping: open) { $0.condition <= .gone ? $0.condition.rawValue : "stale" }
        problemWords = counts.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map {
            "\($0.value.count) \($0.key)"
        }.joined(separator: ", ")
    }

    /// - Parameter running: what runs in this process now.
    func isRunning(_ index: Int, _ running: Set<String>) -> Bool {
        areRunning[index] || !running.isEmpty && running.contains(names[index])
    }
}
