import FeedModel
import Foundation

/// The state of a source, in a word. The worst come first.
package enum SourceCondition: String, Sendable, CaseIterable, Comparable {
    /// A run exceeded a change limit or missed an expectation, and waits for `accept`.
    case blocked
    /// Nothing is fetched, or the feed is not taken, until `resume`.
    case paused
    case failing
    /// Its server answered 410.
    case gone
    case new
    case ok
    case off
    case undeclared

    package static func < (left: SourceCondition, right: SourceCondition) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

extension SourceState {
    /// The state of a source that is declared and enabled.
    var condition: SourceCondition {
        if isBlocked { return .blocked }
        if isPaused { return .paused }
        if gone != nil { return .gone }
        if failures > 0 { return .failing }
        return outcome == nil ? .new : .ok
    }

    /// Returns true if the last good run ended too many seconds ago; without one, the first failed run counts.
    func isStale(after seconds: Double, now: Date) -> Bool { freshFrom.map { $0 + seconds <= now } ?? false }

    // MARK: - For metrics

    /// Returns the state without its texts.
    ///
    /// - Parameter deaths: the number of consecutive processes that died during the source's runs.
    func measured(deaths: Int) -> SourceState {
        var state = self
        (state.error, state.note, state.declared) = (nil, nil, nil)
        state.attempts = deaths
        return state
    }

    /// Applies a run of this process.
    mutating func take(_ report: RunReport) {
        nextDue = report.nextDue ?? nextDue
        switch report.outcome {
        case .committed, .unchanged:
            (outcome, failures, failingSince) = (report.outcome, 0, nil)
            (isBlocked, gone) = (false, nil)
            // After an undo, the source stays paused while its feed is unchanged.
            if report.outcome == .committed { (undone, attempts) = (nil, 0) }
            // A replay sends no request.
            if report.kind == nil { lastGood = report.startedAt + report.seconds }
        case .discarded, .blocked:
            isBlocked = isBlocked || report.outcome == .blocked
            (outcome, failures) = (report.outcome, failures + 1)
            failingSince = report.failingSince ?? failingSince ?? report.startedAt
        case .notDue, .cancelled:
            break
        }
    }
}
