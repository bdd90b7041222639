import FeedModel
import Foundation

/// How a source stands, as metrics tell it.
struct SourceFigures: Sendable, Equatable {
    enum State: String, CaseIterable { case good, failing, held, new }

    var hasRun = false
    /// When the last good run began.
    var lastSuccess: Date?
    var nextDue: Date?
    var failures = 0
    /// When the first run began of those that have failed one after another.
    var failingSince: Date?
    var isHeld = false
    /// True where a run is blocked, and waits to be accepted.
    var isBlocked = false

    var state: State {
        if isHeld { return .held }
        if failures > 0 { return .failing }
        return hasRun ? .good : .new
    }

    /// Takes note of a run of this process.
    mutating func note(_ report: RunReport) {
        nextDue = report.nextDue ?? nextDue
        switch report.outcome {
        case .committed, .unchanged:
            (hasRun, lastSuccess, failures, isHeld, isBlocked) = (true, report.startedAt, 0, false, false)
            failingSince = nil
        case .discarded:
            isBlocked = isBlocked || report.isHeld
            (hasRun, failures, isHeld) = (true, failures + 1, isBlocked)
            failingSince = report.failingSince ?? failingSince ?? report.startedAt
        case .fresh, .cancelled:
            break
        }
    }

    /// Takes over what the store knows of the source.
    ///
    /// - Parameters:
    ///   - deaths: how many processes in a row have died during its runs.
    ///   - success: the last good run, where it was looked for.
    mutating func take(_ state: SourceState, deaths: Int, success: Date?) {
        hasRun = state.outcome != nil
        let known = state.outcome?.isGood == true ? state.lastRun : success ?? lastSuccess ?? state.lastCommit
        lastSuccess = known
        nextDue = state.nextDue
        failures = state.failures
        failingSince = state.failingSince
        isBlocked = state.isHeldBack
        isHeld = isBlocked || deaths >= SourceState.deathsUntilHeld
    }
}
