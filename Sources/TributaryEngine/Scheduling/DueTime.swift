import FeedStore
import Foundation

/// When a source is due next: pure functions of what happened and of the time.
enum DueTime {
    /// The first retry after a failure, if the cache interval is not shorter still.
    static let firstRetry = Duration.seconds(60)
    /// Retries are never further apart than this, or than the cache interval if that is longer.
    static let longestRetry = Duration.seconds(3600)

    /// The state of a source after a run.
    ///
    /// - Parameter jitter: from 0 to 1; spreads the retries of sources that failed together.
    static func state(
        after outcome: RunOutcome, error: String?, source: SourceDeclaration, last: SourceState, startedAt: Date,
        now: Date, jitter: Double = .random(in: 0...1)
    ) -> SourceState {
        var state = last
        state.source = source.name
        switch outcome {
        case .fresh:
            break
        case .committed, .unchanged:
            state.outcome = outcome
            state.lastRun = startedAt
            if outcome == .committed { state.lastCommit = now }
            state.nextDue = now + source.cache.seconds
            state.failures = 0
            state.error = nil
        case .discarded:
            state.outcome = outcome
            state.lastRun = startedAt
            state.failures += 1
            state.nextDue = now + backOff(failures: state.failures, cache: source.cache, jitter: jitter)
            state.error = error
        case .cancelled:
            // It was not the source's fault: what was due stays due.
            state.outcome = outcome
            state.lastRun = startedAt
            state.error = error
        }
        return state
    }

    /// Seconds until the next attempt: doubled with each failure up to the cap, then from 80 % to 120 % of that.
    static func backOff(failures: Int, cache: Duration, jitter: Double) -> Double {
        let first = max(1, min(cache.seconds, firstRetry.seconds))
        let longest = max(cache.seconds, longestRetry.seconds)
        let delay = min(longest, first * pow(2, Double(min(failures, 40) - 1)))
        return delay * (0.8 + 0.4 * jitter)
    }

    /// When the scheduler starts a source, given its state. A time further ahead than the source ever waits means that
    /// the clock was set back, and counts as no time at all.
    static func start(_ source: SourceDeclaration, state: SourceState?, now: Date) -> Date {
        guard let due = state?.nextDue else { return now }
        let longest = max(source.cache.seconds, longestRetry.seconds) * 1.2
        return due.timeIntervalSince(now) > longest ? now : due
    }
}
