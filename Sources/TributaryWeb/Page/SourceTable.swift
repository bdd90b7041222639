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
    /// True for a source that another process runs at this moment.
    let areRunElsewhere: [Bool]

    init(_ status: StoreStatus) {
        // Most stores have no others, and then nothing is copied.
        sources = status.undeclared.isEmpty ? status.sources : status.sources + status.undeclared
        names = sources.map(\.state.source)
        conditions = sources.map(\.condition)
        texts = sources.map { ($0.state.source + "\n" + ($0.state.error ?? "")).lowercased() }
        causes = sources.map { $0.state.error.map(ProblemCause.init) }
        common = CauseList(causes)
        successes = sources.map { $0.lastSuccess ?? .distantPast }
        dueTimes = sources.map { $0.state.nextDue ?? .distantPast }
        areRunElsewhere = sources.map { $0.runner != nil }
    }
}
