import FeedModel
import Foundation

/// How a source stands, as metrics tell it.
struct SourceFigures: Sendable, Equatable {
    enum State: String, CaseIterable { case blocked, paused, gone, failing, new, ok }

    var hasRun = false
    /// When the last good run ended.
    var lastSuccess: Date?
    var nextDue: Date?
    var failures = 0
    /// When the first run began of those that have failed one after another.
    var failingSince: Date?
    /// True where a run is blocked, and waits to be accepted.
    var isBlocked = false
    /// True where the source waits for `resume`.
    var isPaused = false
    /// True where its server said that it is gone for good.
    var isGone = false

    var state: State {
        if isBlocked { return .blocked }
        if isPaused { return .paused }
        if isGone { return .gone }
        if failures > 0 { return .failing }
        return hasRun ? .ok : .new
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
            (hasRun, failures, failingSince) = (true, 0, nil)
            (isBlocked, isGone) = (false, false)
            // What was undone stays so while its feed is unchanged.
            if report.outcome == .committed { isPaused = false }
            // A replay has asked no server.
            if report.kind == nil { lastSuccess = report.startedAt + report.seconds }
        case .discarded, .blocked:
            isBlocked = isBlocked || report.outcome == .blocked
            (hasRun, failures) = (true, failures + 1)
            failingSince = report.failingSince ?? failingSince ?? report.startedAt
        case .notDue, .cancelled:
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
        isBlocked = state.isBlocked
        isPaused = state.isPaused || deaths >= SourceState.deathsUntilPaused
        isGone = state.gone != nil
    }
}
