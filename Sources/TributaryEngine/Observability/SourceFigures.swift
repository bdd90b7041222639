import FeedModel
import Foundation

/// The state of a source, for metrics.
struct SourceFigures: Sendable, Equatable {
    enum State: String, CaseIterable { case blocked, paused, gone, failing, new, ok }

    var hasRun = false
    /// The end of the last successful run.
    var lastSuccess: Date?
    var nextDue: Date?
    var failures = 0
    /// The start of the first of the consecutive failed runs.
    var failingSince: Date?
    /// True if a run is blocked, and waits for `accept`.
    var isBlocked = false
    /// True if the source waits for `resume`.
    var isPaused = false
    /// True if its server answered 410.
    var isGone = false

    var state: State {
        if isBlocked { return .blocked }
        if isPaused { return .paused }
        if isGone { return .gone }
        if failures > 0 { return .failing }
        return hasRun ? .ok : .new
    }

    /// Returns true if the last successful run ended too many seconds ago; without one, the first failed run counts.
    func isStale(after seconds: Double, now: Date) -> Bool {
        (lastSuccess ?? failingSince).map { $0 + seconds <= now } ?? false
    }

    /// Applies a run of this process.
    mutating func note(_ report: RunReport) {
        nextDue = report.nextDue ?? nextDue
        switch report.outcome {
        case .committed, .unchanged:
            (hasRun, failures, failingSince) = (true, 0, nil)
            (isBlocked, isGone) = (false, false)
            // After an undo, the source stays paused while its feed is unchanged.
            if report.outcome == .committed { isPaused = false }
            // A replay sends no request.
            if report.kind == nil { lastSuccess = report.startedAt + report.seconds }
        case .discarded, .blocked:
            isBlocked = isBlocked || report.outcome == .blocked
            (hasRun, failures) = (true, failures + 1)
            failingSince = report.failingSince ?? failingSince ?? report.startedAt
        case .notDue, .cancelled:
            break
        }
    }

    /// Applies the stored state of the source.
    ///
    /// - Parameter deaths: the number of consecutive processes that died during its runs.
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
