import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStores
import Foundation
import Logging

/// Starts each source when it is due and its host has a permit, and no source twice at a time.
///
/// One loop takes the events: due times, refresh requests, reloads and ends of runs. All state belongs to the
/// loop. `run()` returns when it is cancelled, after every run has ended; `run(once:_:)` returns when every source has
/// run.
final class Scheduler: SourceScheduling {
    private let timer: DueTimer
    private let events = SchedulerEvents()
    private let environment: RunEnvironment
    private let onReport: @Sendable (RunReport) -> Void

    init(environment: RunEnvironment, onReport: @escaping @Sendable (RunReport) -> Void) {
        self.environment = environment
        self.onReport = onReport
        timer = DueTimer(clock: environment.clock) { [events] in events.add(.due) }
    }

    /// Refreshes sources now, regardless of their cache intervals; all sources for nil. A running source is refreshed
    /// again after its run.
    func refresh(_ sources: [String]?) { events.add(.refresh(sources)) }

    /// Applies a new configuration. Unchanged sources continue.
    func reload(_ configuration: TributaryConfiguration) { events.add(.reload(configuration)) }

    func assign(_ sources: Set<String>, _ states: [String: SourceState]) {
        // A run of this process whose end could not be stored is no death.
        let states = states.mapValues { state in
            var state = state
            state.attempts = environment.attempts.deaths(before: state)
            if environment.attempts.hasUnrecordedFailure(state.source) { state.nextDue = nil }
            return state
        }
        events.add(.assign(sources, states))
    }

    func release(_ sources: Set<String>) { events.add(.release(sources)) }

    func updateDueTimes(from states: [String: SourceState]) { events.add(.updateDueTimes(states)) }

    /// Returns when the loop has handled this event, or at once if the loop has ended.
    package func heartbeat() async {
        await withCheckedContinuation { if !events.add(.heartbeat($0)) { $0.resume() } }
    }

    /// Runs each source whenever it is due, until the task is cancelled.
    func run() async throws {
        guard environment.ownership == nil else {
            return await run(Schedule(sharing: environment.configuration, parsers: environment.registry))
        }
        let states = try environment.store.read { try $0.sources.all() }
        Self.noteLastRequests(states, environment)
        await run(
            Schedule(
                environment.configuration, parsers: environment.registry, states: states, now: environment.clock.now()))
    }

    /// Runs each of these sources once.
    func run(once sources: [SourceDeclaration], _ mode: RefreshMode) async throws {
        let states = try environment.store.read { try $0.sources.all() }
        Self.noteLastRequests(states, environment)
        await run(
            Schedule(once: mode, sources, parsers: environment.registry, states: states, now: environment.clock.now()))
    }

    /// Notes the times of the last requests of other processes to the hosts: at the latest, the end of their sources'
    /// runs, or the start of runs without an end.
    private static func noteLastRequests(_ states: [String: SourceState], _ environment: RunEnvironment) {
        let configuration = environment.configuration
        guard configuration.hosts.havePace else { return }
        let now = environment.clock.now()
        for state in states.values {
            guard let origin = state.origin.flatMap(Origin.init) ?? configuration[source: state.source]?.firstOrigin,
                let last = [state.lastRun, state.decidedAt].compactMap(\.self).max()
            else { continue }
            environment.hosts.note(origin, askedBefore: .seconds(max(0, now.timeIntervalSince(last))))
        }
    }

    private func run(_ schedule: Schedule) async {
        await withTaskExecutorPreference(environment.executor) { await loop(schedule) }
    }

    private func loop(_ schedule: Schedule) async {
        defer { for case .heartbeat(let caller) in events.end() { caller.resume() } }
        var schedule = schedule
        var environment = self.environment
        var clock = ClockWatch(environment.clock)
        environment.hosts.onFree { [events] in events.add(.free($0)) }
        for limit in [environment.places, environment.slots] {
            limit.onFree { [events] in events.add(.due) }
        }
        var logged = Set<Origin>()
        // The results of runs are not needed, and a group that kept them would grow.
        await withDiscardingTaskGroup { group in
            func startRuns(freed: [Origin] = []) {
                for start in schedule.takeStarts(now: environment.clock.now(), admit: environment.admission) {
                    let run = StackRun(start.source, in: environment, mode: start.mode, permit: start.permit)
                    environment.activeRuns.began(start.source.name, at: environment.clock.now())
                    group.addTask {
                        [events, onReport, clock = self.environment.clock, activeRuns = environment.activeRuns] in
                        let report = await run.run { events.add(.answered(start.source.name)) }
                        let ended = clock.now()
                        activeRuns.ended(report.source)
                        // The loop receives the end first, before events that the receiver of the report sends.
                        events.add(.finished(report, at: ended))
                        onReport(report)
                    }
                }
                logWaits(schedule, environment, freed: freed, &logged)
                timer.set(schedule.nextWake)
                environment.metrics.note(schedule.load)
            }
            startRuns()
            if schedule.isDone { return }
            while let batch = await events.next() {
                let (now, former) = clock.look()
                if let former {
                    schedule.clockWasSet(from: former, to: now)
                    // The store may be busy, and the loop must not wait for it.
                    group.addTask { [environment] in
                        await self.cutStoredWaits(to: now, setBackFrom: former, environment)
                    }
                }
                var freed: [Origin] = []
                // Many requests to refresh sources are one.
                var refreshed = (all: false, names: Set<String>())
                var callers: [CheckedContinuation<Void, Never>] = []
                // The answer to a request rarely lets another run begin.
                var mayStart = false
                for event in batch {
                    switch event {
                    case .due:
                        break
                    case .heartbeat(let caller):
                        callers.append(caller)
                    case .refresh(let sources):
                        refreshed.all = refreshed.all || sources == nil
                        refreshed.names.formUnion(sources ?? [])
                    case .reload(let configuration):
                        if configuration.differsInStore(from: environment.configuration) {
                            environment.logger.warning("Changes of [store] take effect at the next start")
                        }
                        environment.configuration = configuration
                        environment.setLimits(configuration)
                        schedule.reload(configuration, now: now)
                    case .assign(let sources, let states):
                        Self.noteLastRequests(states, environment)
                        schedule.assign(sources, states, now: now)
                    case .release(let sources):
                        schedule.release(sources, now: now)
                    case .updateDueTimes(let states):
                        schedule.updateDueTimes(from: states, now: now)
                    case .free(let origins):
                        freed += origins
                        for origin in origins { schedule.free(origin) }
                    case .answered(let source):
                        if !schedule.answered(source) { continue }
                    case .finished(let report, let ended):
                        let isSetBack = now < ended && report.nextDue != .distantFuture
                        let due = isSetBack ? report.nextDue.map { now + $0.timeIntervalSince(ended) } : report.nextDue
                        // The record of an unchanged poll may have waited for others.
                        let waited = max(
                            0, min(ended.timeIntervalSince(report.finishedAt), RecordWindow.length.seconds))
                        schedule.finished(
                            report.source, nextDue: due, hasCommitted: report.outcome == .committed, ago: waited,
                            now: now, jitter: environment.random.fraction())
                    }
                    mayStart = true
                }
                guard mayStart else { continue }
                schedule.refresh(refreshed.all ? nil : refreshed.names.sorted(), now: now)
                startRuns(freed: freed)
                for caller in callers { caller.resume() }
                if schedule.isDone { break }
            }
            timer.set(nil)
            // The runs of a sync have all ended, and it may still wait for the store to delete old runs.
            if !schedule.isDone { environment.store.stopWaiting() }
            group.cancelAll()
        }
    }

    /// Logs that sources wait for their hosts' rate limits: once a host, until none waits any more.
    ///
    /// - Parameter freed: the origins whose waiting sources were looked at again.
    private func logWaits(
        _ schedule: Schedule, _ environment: RunEnvironment, freed: [Origin], _ logged: inout Set<Origin>
    ) {
        for origin in freed where schedule.waiting(at: origin) == 0 { logged.remove(origin) }
        for origin in environment.hosts.takeNewlyLimited().sorted() where schedule.waiting(at: origin) > 0 {
            guard logged.insert(origin).inserted else { continue }
            let rules = environment.configuration.hosts
            let pace = rules.pace(at: rules.key(of: origin)).map { "\($0)" } ?? "-"
            environment.logger.info(
                "Sources wait for their host ([hosts] pace)",
                metadata: [
                    "host": "\(origin)", "pace": "\(pace)", "sources": "\(schedule.waiting(at: origin))",
                ])
        }
    }

    private func cutStoredWaits(to now: Date, setBackFrom former: Date, _ environment: RunEnvironment) async {
        environment.logger.warning("The clock was set back; waits are not extended")
        do {
            try await environment.store.writeInGroup { try $0.waits.cut(to: now, from: former) }
        } catch {
            environment.logger.error("Due times in the store cannot be corrected", metadata: ["error": "\(error)"])
        }
    }
}
