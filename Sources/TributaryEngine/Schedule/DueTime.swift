import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStaging
import FeedStores
import Foundation
import XMLStream

/// Decides a source's next due time, by pure functions of its last run and the time.
enum DueTime {
    /// The delay before the first retry after a failure, unless the cache interval is shorter.
    static let firstRetry = Duration.seconds(60)
    /// The delay before a source's first retry, in seconds: a minute, or `cache` if shorter; at least one second.
    static func firstRetry(of source: SourceDeclaration) -> Double { firstRetry(cache: source.cache) }

    private static func firstRetry(cache: Duration) -> Double { max(1, min(cache.seconds, firstRetry.seconds)) }

    /// The longest delay between retries, unless the cache interval is longer.
    static let longestRetry = Duration.seconds(3600)

    /// Returns the state of a source after a run.
    ///
    /// - Parameters:
    ///   - hints: the responses' hints about the time of the next run.
    ///   - jitter: from 0 to 1; spreads the retries of sources that failed together.
    static func state(
        after outcome: RunOutcome, error: String?, source: SourceDeclaration, last: SourceState,
        startedAt: Date, now: Date, hints: PollHints = PollHints(), jitter: Double
    ) -> SourceState {
        var state = decided(outcome, error, source, last, startedAt, now, hints, jitter)
        state.declared = source.identity
        state.attempts = 0
        state.wait = state.gone == nil ? state.nextDue.map { max(0, $0.timeIntervalSince(now)) } : nil
        // A busy server without Retry-After gets the pause of a first failure, even if the declaration changes.
        state.askedUntil = hints.wait.map { $0.end ?? now + firstRetry.seconds }
        return state
    }

    /// Returns the state of a source after a replay, or after a run that loads a given span. Neither is the run that is
    /// due, so the due time and the last error stay.
    ///
    /// - Parameter readsAll: true if all the source's rows follow its declaration after the run.
    static func state(
        afterExtra outcome: RunOutcome, readsAll: Bool, source: SourceDeclaration, last: SourceState, startedAt: Date,
        now: Date
    ) -> SourceState {
        var state = last
        state.source = source.name
        guard outcome.isGood else { return state }
        state.outcome = outcome
        state.lastRun = startedAt
        if outcome == .committed {
            state.lastCommit = now
            // The blocked documents were compared with other rows.
            state.isBlocked = false
        }
        // A changed declaration makes a source due at once, because of its rows.
        if readsAll, state.failures == 0, state.declared != nil { state.declared = source.identity }
        return state
    }

    private static func decided(
        _ outcome: RunOutcome, _ error: String?, _ source: SourceDeclaration, _ last: SourceState,
        _ startedAt: Date, _ now: Date, _ hints: PollHints, _ jitter: Double
    ) -> SourceState {
        var state = last
        state.source = source.name
        state.note = movedNote(hints)
        switch outcome {
        case .notDue:
            break
        case .committed, .unchanged:
            state.outcome = outcome
            state.lastRun = startedAt
            state.lastGood = now
            if outcome == .committed { state.lastCommit = now }
            let due = source.schedule?.next(after: startedAt) ?? now + interval(source, hints).seconds
            state.nextDue = due
            // A schedule takes precedence over a response's freshness.
            if source.schedule == nil, source.honorsMaxAge, let fresh = hints.freshUntil, fresh > due {
                state.nextDue = fresh
                state.note = join(state.note, "the server says its answer is good until \(text(fresh)) (max-age)")
            }
            state.failures = 0
            state.error = nil
            state.gone = nil
            state.failingSince = nil
            state.isBlocked = false
        case .discarded, .blocked:
            state.outcome = outcome
            state.lastRun = startedAt
            state.failures += 1
            state.failingSince = last.failingSince ?? startedAt
            // A blocked run still waits for `accept` after later failures.
            state.isBlocked = outcome == .blocked || last.isBlocked
            let due = now + backOff(failures: state.failures, cache: source.cache, jitter: jitter)
            state.nextDue = due
            state.error = error
            if let gone = hints.gone {
                state.gone = source.validity
                state.nextDue = .distantFuture
                state.note = join(
                    state.note,
                    "the server says that \(gone) is gone permanently (410): no request is sent until the declaration of "
                        + "the source changes, or it is disabled and enabled again")
            } else if let wait = hints.wait {
                state.nextDue = max(due, wait.end ?? now + firstRetry.seconds)
            }
            if outcome != .blocked, last.isBlocked {
                state.note = join(state.note, blockedNote(on: source.name))
            }
        case .cancelled:
            // The source did not cause it, so it stays due, but waits up to a minute in case the process restarts at
            // once. The time is not before now, which is the time of the last request to its hosts.
            state.outcome = outcome
            let due = last.declared.map { $0 == source.identity } ?? true ? last.nextDue : nil
            state.nextDue = max(due ?? .distantPast, startedAt + firstRetry(of: source), now)
            state.lastRun = startedAt
            state.error = error
        }
        return state
    }

    /// Returns the seconds until the next attempt: doubled with each failure up to a limit, with a jitter of 20 %.
    static func backOff(failures: Int, cache: Duration, jitter: Double) -> Double {
        let longest = max(cache.seconds, longestRetry.seconds)
        let delay = min(longest, firstRetry(cache: cache) * pow(2, Double(min(failures, 40) - 1)))
        return delay * (0.8 + 0.4 * jitter)
    }

    /// Returns the time for which a successful run's rows are fresh. Without a declared `cache`, the interval is a day
    /// for a server without validators and freshness, and an hour for one with validators.
    static func interval(_ source: SourceDeclaration, _ hints: PollHints) -> Duration {
        guard !source.hasOwnCache, hints.isHTTP, hints.freshUntil == nil else { return source.cache }
        return hints.haveValidators ? .seconds(3600) : .seconds(86_400)
    }

    /// Returns the time at which the scheduler starts a source, given its state.
    ///
    /// A source whose declaration has changed since its due time was stored is due at once, except during a wait that a
    /// server requested. No source waits longer than decided when the due time was stored, even if the clock was wrong
    /// then.
    static func start(_ source: SourceDeclaration, state: SourceState?, now: Date) -> Date {
        guard let state, let due = state.nextDue else { return now }
        if state.gone != nil { return source.isGone(in: state) ? .distantFuture : now }
        if source.isRead, let declared = state.declared, declared != source.identity {
            return max(now, min(state.askedUntil ?? now, now + RetryAfter.longest.seconds))
        }
        if let schedule = source.schedule, state.failures == 0, state.attempts == 0, state.outcome?.isGood ?? false {
            // The first time since the last run began. That run's beginning may be to come, if the clock was wrong then.
            let next = schedule.next(after: min(state.lastRun ?? now, now))
            // A replay is a run, but does not change the due time. While the last run lies ahead of the clock, `next` stays
            // ahead of it as well, so only the stored time is ever reached.
            let isAhead = state.lastRun.map { $0 > now } ?? false
            return isAhead || schedule.has(due) ? min(due, next) : next
        }
        let wait = state.wait ?? state.lastRun.map { max(0, due.timeIntervalSince($0)) } ?? RetryAfter.longest.seconds
        return min(due, now + wait)
    }

    /// Returns the note on a source whose run is blocked, and whose later runs have failed.
    static func blockedNote(on source: String) -> String {
        "an earlier run is blocked, and waits for `tributary accept \(source)`"
    }

    /// Returns the note on a run that sends a request again until its response has a value.
    ///
    /// - Parameter start: when it began to; the limit counts from then.
    static func waitNote(on request: String, _ until: UntilDeclaration, since start: Date) -> String {
        "\(waitBeginning)\(request)' is sent again every \(until.pause.roughText) since \(text(start)), until "
            + text(start + until.limit.seconds)
    }

    /// Returns true for the note of a run in progress. It stays in the store if the process dies.
    static func isWaitNote(_ note: String) -> Bool { note.hasPrefix(waitBeginning) }

    private static let waitBeginning = "waits: request '"

    private static func movedNote(_ hints: PollHints) -> String? {
        guard !hints.moved.isEmpty else { return nil }
        return hints.moved.sorted { $0.key < $1.key }.map {
            "request '\($0.key)' has moved permanently to \($0.value), which is requested now; change its url"
        }.joined(separator: "; ")
    }

    private static func join(_ first: String?, _ second: String) -> String {
        first.map { $0 + "; " + second } ?? second
    }

    /// Returns a time in UTC, such as `2025-01-31 14:05 UTC`.
    static func text(_ date: Date) -> String {
        let text = Lexical.iso8601(Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded()))
        return text.prefix(10) + " " + text.dropFirst(11).prefix(5) + " UTC"
    }

    /// Returns the minute at which a wait is over.
    static func text(ofEnd date: Date) -> String {
        text(Date(timeIntervalSince1970: (date.timeIntervalSince1970 / 60).rounded(.up) * 60))
    }
}

/// The limits that a refresh ignores.
public enum RefreshMode: Sendable, Equatable {
    /// None: a source that is not due is not fetched.
    case whenDue
    /// The cache interval and the back-off.
    case force
    /// The validators too: every request is unconditional.
    case full

    var ignoresDueTime: Bool { self != .whenDue }
    var ignoresValidators: Bool { self == .full }
}

/// The advice at the end of a blocked run's error.
package enum AcceptAdvice {
    private static let beginning = "; if the documents are right, "

    static func text(for source: String) -> String {
        beginning + "`tributary accept \(source)` lets the next run commit them"
    }

    /// Returns the error without the advice.
    package static func removed(from error: String) -> String {
        error.range(of: beginning, options: .backwards).map { String(error[..<$0.lowerBound]) } ?? error
    }
}

extension SourceDeclaration {
    /// Returns true if the server has answered 410 to this declaration. One that was not read counts as unchanged.
    func isGone(in state: SourceState) -> Bool { state.gone.map { !isRead || $0 == validity } ?? false }
}
