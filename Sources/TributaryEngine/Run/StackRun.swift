import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStaging
import FeedStores
import Foundation
import Logging

/// One attempt to refresh one source: the order of the steps.
///
/// Claims the source, checks that it is due, and sends its requests (``Poll``). If all answers are 304, the run is
/// recorded. The first body creates a ``Refresh``, which parses the stack into the worker context and merges it in one
/// transaction. After an error, the worker context is discarded, and only the run is recorded.
///
/// Everything except the refresh runs on ``RunEnvironment/executor``, one thread for all runs.
struct StackRun: Sendable {
    private let source: SourceDeclaration
    private let environment: RunEnvironment
    private let mode: RefreshMode
    private let replay: Replay?
    private let permits: RunPermits

    init(
        _ source: SourceDeclaration, in environment: RunEnvironment, mode: RefreshMode, permit: RunPermit = RunPermit(),
        replay: Replay? = nil
    ) {
        self.source = source
        self.environment = environment
        self.mode = mode
        self.replay = replay
        permits = RunPermits(permit, in: environment)
    }

    /// Runs the source. Never throws: an error is in the report. A cancelled task makes a cancelled run.
    ///
    /// - Parameter onAnswer: called when the run has the answers that it polls for, before it records or parses them.
    func run(onAnswer: @Sendable () -> Void = {}) async -> RunReport {
        // The permits' owner may outlive the run.
        defer { permits.release() }
        environment.http.begin(source.requests)
        defer { environment.http.end(source.requests) }
        return await withTaskExecutorPreference(environment.executor) {
            do {
                guard environment.mayRun(source.name) else { return notOwned() }
                return try await claimed { run, deaths in
                    // A released source belongs to the next daemon, which waits for the end of this claim.
                    guard environment.mayRun(source.name) else { return notOwned() }
                    return await self.run(run, after: deaths, onAnswer)
                }
            } catch {
                return unclaimed(error)
            }
        }
    }

    /// Runs everything except the commit.
    ///
    /// - Parameters:
    ///   - bodies: files to read instead of the requests' responses, by the requests' keys.
    ///   - known: the states of the requests, if the store is a copy of the tables without them.
    ///   - onChange: called with each change.
    /// - Throws: the error that would discard the run.
    func plan(
        bodies: [String: String], replaying known: [String: RequestState]? = nil,
        onChange: @escaping @Sendable (PlannedChange) throws -> Void
    ) async throws -> StackPlan {
        defer { permits.release() }
        return try await claimed { run, _ in
            var run = run
            if let known { run.known = known }
            let refresh = Refresh(run, permits: permits)
            return try await refresh.plan(bodies: bodies, onChange: onChange)
        }
    }

    // MARK: - The claim

    /// Runs a body while the source has no other run in any process. Other sources continue while this one waits.
    ///
    /// - Parameter body: receives the stored state of the source, and the number of consecutive processes that died during
    ///   its runs.
    private func claimed<Value: Sendable>(
        _ body: (RunState, _ deaths: Int) async throws -> Value
    ) async throws -> Value {
        let (claim, stored, known, lookedAt) = try await claim()
        permits.claim = claim
        var run = RunState(source, in: environment, mode: mode, replay: replay, stored: stored, known: known)
        run.lookedAt = lookedAt
        let deaths = stored.declared == source.identity ? environment.attempts.deaths(before: stored) : 0
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(run, deaths))
        } catch {
            result = .failure(error)
        }
        // Also after a cancellation.
        if permits.claim != nil { try? await environment.queryStore { claim.unlock() } }
        permits.claim = nil
        return try result.get()
    }

    private typealias Claimed = (
        claim: any SourceClaim, stored: SourceState, known: [String: RequestState], lookedAt: Duration
    )

    private func claim() async throws -> Claimed {
        // On a server, each attempt is a query.
        let longestPause = environment.store is any SharedStore ? Duration.seconds(1) : .milliseconds(50)
        var pause = Duration.milliseconds(50)
        let began = environment.clock.uptime
        var isTold = false
        while true {
            let claimed = try await environment.queryStore {
                [source, store = environment.store, clock = environment.clock] () throws -> Claimed? in
                guard let claim = try store.claim(source.name, at: source.askedOrigin) else { return nil }
                do {
                    let lookedAt = clock.uptime
                    let (stored, known) = try store.states(of: source.name)
                    return (claim, stored, known, lookedAt)
                } catch {
                    claim.unlock()
                    throw error
                }
            }
            if let claimed { return claimed }
            permits.releaseHost()
            if !isTold, environment.clock.uptime - began >= .seconds(1) {
                isTold = true
                try await tellOfOtherRun()
            }
            // Released locks and leases are not notified, so the attempt is repeated.
            try await environment.clock.sleep(for: pause)
            pause = min(pause * 2, longestPause)
        }
    }

    /// Logs which process keeps the run waiting. The lease of a process that has died lasts some seconds longer than it.
    private func tellOfOtherRun() async throws {
        let holder = try await environment.queryStore { [source, store = environment.store] in
            try (store as? any SharedStore)?.runners()[source.name]
        }
        environment.logger.notice(
            "The source waits for the end of its other run",
            metadata: ["source": "\(source.name)", "process": "\(holder ?? "another one on this machine")"])
    }

    // MARK: - The steps

    /// - Parameter deaths: the number of consecutive processes that died during the source's runs.
    private func run(_ began: RunState, after deaths: Int, _ onAnswer: () -> Void) async -> RunReport {
        var run = began
        do {
            if let replay {
                let bodies = try run.lastBodies(of: replay)
                try run.check(bodies, areThoseOf: replay)
                run.kept = bodies
            } else {
                if deaths >= SourceState.deathsUntilPaused, !environment.runsPaused {
                    return try await paused(run, after: deaths)
                }
                if run.stored.isBlocked {
                    (run.kept, run.unusable) = try await environment.threads.run { [run] in try run.acceptedBodies() }
                }
                if run.kept == nil, run.stored.pausedAt != nil { return notFetched(run, run.stored.reasonOfStop) }
                if run.kept == nil, let due = run.wait() {
                    await countWaitFromNow(of: run)
                    return notDue(run, before: due)
                }
                // The blocked run has shown that the feed differs from the undone one.
                run.undone = run.kept == nil ? UndoneFeed(run.stored.undone) : nil
                if let undone = run.undone, !undone.covers(source) {
                    return notFetched(run, undone.strictNote(source.name))
                }
            }
            run.additions.note(environment.startAdditions.take(of: source.name))
            var found: Poll.Found?
            if Poll.mayEnd(run) {
                found = try await Poll(environment: environment, permits: permits).send(&run)
                onAnswer()
                if found == nil, run.results.allSatisfy({ $0.report.outcome == .unchanged }) {
                    try Task.checkCancellation()
                    try await FileActions(environment: environment, permits: permits).finish(run)
                    // The place and the permit are released while the record waits.
                    permits.release()
                    // Whoever has asked for the run waits for its record.
                    let window = mode.ignoresDueTime ? nil : environment.recordWindow
                    return await run.record(RunState.Ending(outcome: .unchanged), in: window, endsClaim: true) {
                        permits.endClaim()
                    }
                }
            }
            return await Refresh(run, permits: permits, found: found).run(after: deaths)
        } catch {
            let ending = run.ending(with: error)
            if !run.additions.all.isEmpty { try? await environment.threads.run { [run] in run.removeAdditions() } }
            // A replay without bodies is reported to its caller, and not recorded.
            return run.isReplay ? run.report(ending) : await run.record(ending)
        }
    }

    // MARK: - Runs that send nothing

    /// Reports a run that could not claim its source, and so is not recorded. The source is retried as after a first
    /// failure.
    private func unclaimed(_ error: any Error) -> RunReport {
        var run = RunState(
            source, in: environment, mode: mode, replay: replay, stored: SourceState(source: source.name), known: [:])
        let ending = run.ending(with: error)
        var report = run.report(ending)
        report.nextDue = environment.clock.now() + DueTime.firstRetry(of: source)
        // It was asked for, and may not be due by itself.
        if mode.ignoresDueTime { environment.attempts.noteUnrecordedFailure(of: source.name) }
        return report
    }

    /// Shortens the stored wait of a source whose due time was decided by a clock ahead of this one. Otherwise the wait would
    /// begin again at each look at the source. A store that does not answer is asked again at the next look.
    private func countWaitFromNow(of run: RunState) async {
        let now = environment.clock.now()
        guard run.stored.wasDecided(aheadOf: now) else { return }
        do {
            try await environment.store.writeInGroup { [name = source.name] in
                try $0.waits.cut(to: now, from: now, of: [name])
            }
        } catch {
            environment.logger.warning(
                "The wait of a source cannot be shortened to this clock",
                metadata: ["source": "\(source.name)", "error": "\(environment.shown("\(error)"))"])
        }
    }

    /// Reports a source that is not due; with an error if it waits after a failure.
    private func notDue(_ run: RunState, before due: Date) -> RunReport {
        var report = RunReport(source: source.name, outcome: .notDue, startedAt: run.startedAt, nextDue: due)
        // A pause that a server requested holds for forced runs, too.
        let isPause = run.pauseEnd != nil
        let beginning = "nothing is sent before \(DueTime.text(ofEnd: due)), as "
        let pause = beginning + "a server of the source asks to wait"
        if run.stored.failures > 0, let error = run.stored.error {
            if due == .distantFuture {
                report.error = "\(run.stored.note ?? "nothing is sent"): \(error)"
            } else if isPause {
                report.error = "\(pause); the last run failed: \(error)"
            } else {
                report.error =
                    "\(beginning)the last run failed: \(error); `tributary sync \(source.name) --force` tries now"
            }
        } else if isPause {
            report.note = pause
        } else if run.stored.attempts > 0 {
            report.note =
                "\(beginning)the process died during the last run; `tributary sync \(source.name) --force` tries now"
        }
        return report
    }

    /// Reports a source that another daemon runs.
    private func notOwned() -> RunReport {
        let now = environment.clock.now()
        return RunReport(source: source.name, outcome: .notDue, startedAt: now, nextDue: now)
    }

    /// Reports a source that an operator has paused, or that was undone and whose feed can only be compared by committing it.
    private func notFetched(_ run: RunState, _ reason: String?) -> RunReport {
        RunReport(
            source: source.name, outcome: .notDue, startedAt: run.startedAt, note: reason, nextDue: .distantFuture)
    }

    /// Reports a source as paused after it killed the process several times.
    private func paused(_ run: RunState, after deaths: Int) async throws -> RunReport {
        let error =
            "the process died \(deaths) times in a row during a run of this source, which is paused so that the others can run"
        let note =
            "paused: nothing is fetched until `tributary resume \(source.name)`, or until its declaration changes; "
            + "`tributary sync \(source.name) --force` tries it once in a process of its own"
        if run.stored.error != error || run.stored.note != note {
            let now = environment.clock.now()
            try await environment.store.writeInGroup { [source] in
                try $0.sources.recordPause(of: source.name, error: error, note: note, now: now)
            }
        }
        return RunReport(
            source: source.name, outcome: .discarded, startedAt: run.startedAt, error: error + "; " + note,
            nextDue: .distantFuture)
    }
}
