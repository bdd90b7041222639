import FeedModel
import Foundation

/// How a source stands, as metrics tell it.
struct SourceFigures: Sendable, Equatable {
    enum State: String, CaseIterable { case good, failing, held, new }

    var hasRun = false
    /// When the last good run ended.
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

    /// Returns true where the last good run ended too many seconds ago; without one, where the first failure did.
    func isStale(after seconds: Double, now: Date) -> Bool {
        (lastSuccess ?? failingSince).map { $0 + seconds <= now } ?? false
    }

    /// Takes note of a run of this process.
    mutating func note(_ report: RunReport) {
        nextDue = report.nextDue ?? nextDue
        switch report.outcome {
        case .committed, .unchanged:
            (hasRun, failures, isHeld, isBlocked) = (true, 0, false, false)
            // A replay has asked no server.
            if report.kind == nil { lastSuccess = report.startedAt + report.seconds }
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
    /// - Parameter deaths: how many processes in a row have died during its runs.
    mutating func take(_ state: SourceState, deaths: Int) {
        hasRun = state.outcome != nil
        lastSuccess = state.lastGood
        nextDue = state.nextDue
        failures = state.failures
        failingSince = state.failingSince
        isBlocked = state.isHeldBack
        isHeld = isBlocked || deaths >= SourceState.deathsUntilHeld
    }
}
