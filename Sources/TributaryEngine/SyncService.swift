public import FeedConfiguration
package import FeedFetching
public import FeedModel
package import FeedParsing
package import FeedStores
import Foundation
package import Logging
public import ServiceLifecycle

/// The engine: keeps one main store in step with the sources of a configuration.
///
/// As a `Service` it runs in any program with a `ServiceGroup`, until the group shuts down gracefully or its task is
/// cancelled. Runs in progress are then discarded, and the store stays unchanged. ``sync(_:mode:onReport:)`` refreshes
/// once instead.
///
/// ```swift
/// let service = try SyncService(
///     configuration: TributaryConfiguration(file: "sources.toml", parsers: registry),
///     parsers: registry, logger: logger)
/// let group = ServiceGroup(services: [service, server], logger: logger)
/// try await group.run()
/// ```
public final class SyncService: Service {
    package let store: any MainStore
    /// The most transactions in which a sync deletes old runs. A daemon deletes all of them.
    private static let forgettingTransactions = 10

    /// The report of each run, as it ends. For one consumer; if nobody reads, only the latest 1,000 are kept.
    public let outcomes: AsyncStream<RunReport>

    private let outcomeContinuation: AsyncStream<RunReport>.Continuation
    let environment: RunEnvironment
    private let scheduler: Scheduler
    /// Receives the report of each run.
    let onReport: @Sendable (RunReport) -> Void
    /// Limits concurrent plans, each of which may hold a document's rows.
    let planning = Slots(limit: 2)
    /// Limits concurrent trials of documents.
    let trying = Slots(limit: 1)
    private let storeWatch: StoreWatch
    /// This daemon among those that share the store; nil for a store that cannot be shared.
    private let group: DaemonGroup?
    let hooks: Hooks
    private let pruning: RunPruning
    private let sampler: MetricsSampler
    /// The health of this service.
    package let health: Health
    private let current: Mutex<TributaryConfiguration>

    /// The current configuration.
    package var configuration: TributaryConfiguration { current.withLock(\.self) }

    /// The runs in progress.
    package var activeRuns: ActiveRuns { environment.activeRuns }

    /// Prepares the store for the sources. Blocks its thread.
    ///
    /// - Parameters:
    ///   - store: the opened main store. No other code of this process may write to it.
    ///   - parsers: the registered parser classes.
    ///   - names: resolves the hosts that responses name.
    ///   - network: sends messages; nil for the machine's network.
    ///   - logins: the store that keeps refresh tokens; nil for `store`.
    ///   - recordWindow: the time for which a daemon collects the records of polls, to write them together.
    ///   - onProgress: called with the progress of downloads, on the runs' own executors.
    /// - Throws: `StoreError` if the store cannot be used, ``ConfigurationError`` if the schema that follows the mappings
    ///   cannot be run.
    package init(
        configuration: TributaryConfiguration, store: any MainStore, parsers: ParserRegistry, logger: Logger,
        clock: any RunClock, random: any RandomSource = SystemRandom(), threads: any WorkThreads = SystemThreads(),
        names: any NameLookup = SystemNames(), network: (any Network)? = nil, logins: (any MainStore)? = nil,
        recordWindow: Duration = RecordWindow.length, onProgress: @escaping @Sendable (RunProgress) -> Void = { _ in }
    ) throws {
        self.store = store
        current = Mutex(configuration)
        let startAdditions = try configuration.finishSchema(of: store, parsers: parsers, logger: logger)
        try store.removeAbandonedScratch()
        let (start, disabled) = (clock.now(), configuration.sources.filter { !$0.isEnabled }.map(\.name))
        try store.write { ledger in
            try ledger.waits.cut(to: start, from: start)
            try ledger.sources.forgetGone(disabled)
        }
        let (outcomes, continuation) = AsyncStream<RunReport>.makeStream(bufferingPolicy: .bufferingNewest(1000))
        self.outcomes = outcomes
        outcomeContinuation = continuation
        let activeRuns = ActiveRuns()
        let metrics = EngineMetrics(
            perSource: configuration.metricsPerSource, declared: configuration.watched)
        let hosts = HostGate(
            configuration.hosts, uptime: { clock.uptime }, sleep: { try await clock.sleep(for: $0) })
        hosts.close(try store.read { try $0.waits.busyHosts(at: start) }, now: clock.now())
        let executor = EngineExecutor(threads)
        var environment = RunEnvironment(
            configuration: configuration, store: store, registry: parsers,
            http: HTTPFetcher(
                now: { clock.now() }, hosts: hosts, names: names, network: network,
                refreshTokens: RefreshTokens(logins ?? store, clock: clock, random: random), on: executor.loop,
                onAnswer: metrics.answered),
            hosts: hosts,
            slots: Slots(limit: configuration.concurrency, mostWaiting: RunEnvironment.mostWaitingLoads),
            clock: clock, logger: logger,
            onProgress: { progress in
                activeRuns.note(progress)
                onProgress(progress)
            }, activeRuns: activeRuns, executor: executor)
        environment.setLimits(configuration)
        environment.startAdditions = StartAdditions(startAdditions)
        environment.metrics = metrics
        environment.random = random
        environment.threads = threads
        environment.network = network
        self.environment = environment
        var daemonEnvironment = environment
        let sharedStore = store as? any SharedStore
        let ownership = sharedStore.map { store in Ownership(uptime: { store.uptime }) }
        daemonEnvironment.ownership = ownership
        if recordWindow > .zero { daemonEnvironment.recordWindow = RecordWindow(clock, length: recordWindow) }
        storeWatch = StoreWatch(store, clock: clock, executor: environment.serialExecutor("store-watch"))
        hooks = Hooks(environment)
        pruning = RunPruning(
            store, history: configuration.history, sources: configuration.sources, clock: clock,
            executor: environment.serialExecutor("pruning"), logger: logger)
        onReport = { [storeWatch, hooks] report in
            continuation.yield(report)
            metrics.note(report)
            storeWatch.note(report)
            hooks.note(report)
        }
        let scheduler = Scheduler(environment: daemonEnvironment, onReport: onReport)
        self.scheduler = scheduler
        health = Health(
            { await scheduler.heartbeat() }, store, logger: logger, clock: clock, threads: threads,
            shown: environment.shown)
        sampler = MetricsSampler(
            store, metrics, declared: configuration.watched, ownership: ownership, clock: clock,
            executor: environment.serialExecutor("metrics"), health: health,
            deaths: environment.attempts.deaths(before:), hookLags: hooks.lags(now:))
        group =
            if let sharedStore, let ownership {
                DaemonGroup(
                    sharedStore, configuration, scheduler: scheduler, ownership: ownership,
                    hosts: hosts, clock: clock, executor: environment.serialExecutor("daemons"),
                    logger: logger, onRetry: hooks.note(retryOf:))
            } else {
                nil
            }
    }

    /// Refreshes every source when it is due, until the task is cancelled or the service group shuts down.
    public func run() async throws {
        defer { outcomeContinuation.finish() }
        do {
            // Before the first run, whose events a new hook receives.
            try await hooks.prepare()
            await sampler.prepare()
            try await cancelWhenGracefulShutdown {
                async let sharing: Void? = self.group?.run()
                async let telling: Void = self.hooks.run()
                async let measuring: Void = self.sampler.run()
                async let pruning: Void = self.pruning.run()
                try await self.scheduler.run()
                await sharing
                await telling
                await measuring
                await pruning
            }
        } catch is CancellationError {
        }
        await group?.leave()
        try await environment.http.shutdown()
    }

    /// Checks, while the service runs, that the store's files are in place. Data written after their deletion or
    /// replacement is lost, and the program should end. For one caller.
    ///
    /// - Throws: `StoreError` within seconds if they are not; `CancellationError`.
    public func watchStore() async throws { try await storeWatch.run() }

    /// Refreshes sources once, at most `concurrency` at a time, and returns the reports in the order in which the runs
    /// ended. For a service that is not running; call it once.
    ///
    /// - Parameters:
    ///   - names: the sources; every enabled one if empty.
    ///   - onReport: called with each report as its run ends.
    public func sync(
        _ names: [String] = [], mode: RefreshMode = .whenDue,
        onReport: @escaping @Sendable (RunReport) -> Void = { _ in }
    ) async throws -> [RunReport] {
        let configuration = environment.configuration
        let sources = names.isEmpty ? configuration.enabledSources : names.compactMap { configuration[source: $0] }
        let (reports, continuation) = AsyncStream<RunReport>.makeStream()
        // The receiver may block, as a terminal does, and must not delay runs. The task is awaited below, also after a
        // cancellation, for the last reports.
        let delivery = Task {
            await reports.reduce(into: [RunReport]()) { all, report in
                all.append(report)
                onReport(report)
            }
        }
        defer { continuation.finish() }
        var environment = environment
        // A forced run of named sources includes paused ones.
        environment.runsPaused = mode != .whenDue && !names.isEmpty
        environment.logsRemainingFiles = false
        let scheduler = Scheduler(environment: environment) { [metrics = environment.metrics] report in
            metrics.note(report)
            continuation.yield(report)
        }
        try await withTaskCancellationHandler {
            try await scheduler.run(once: sources, mode)
        } onCancel: {
            store.stopWaiting()
        }
        continuation.finish()
        let ended = await delivery.value
        if !Task.isCancelled { await pruning.pass(transactions: Self.forgettingTransactions) }
        outcomeContinuation.finish()
        try await environment.http.shutdown()
        let names = Set(ended.map(\.source))
        return ended
            + sources.filter { !names.contains($0.name) }.map {
                RunReport(
                    source: $0.name, outcome: .cancelled, startedAt: environment.clock.now(),
                    error: RunState.Ending.stopped)
            }
    }

    /// Runs a source with its last kept bodies instead of the network, and commits. For a service that is not running;
    /// call it once.
    ///
    /// - Parameter all: true to read all kept bodies of requests that delete no rows, the oldest first.
    package func replay(_ source: SourceDeclaration, all: Bool = false) async throws -> RunReport {
        let run = StackRun(source, in: environment, mode: .force, replay: Replay(readsAll: all))
        let report = await withTaskCancellationHandler {
            await run.run()
        } onCancel: {
            store.stopWaiting()
        }
        outcomeContinuation.finish()
        try await environment.http.shutdown()
        return report
    }

    /// Runs a source without the commit. For a service that is not running; call it once.
    ///
    /// - Parameters:
    ///   - bodies: URLs of files to read instead of the requests' responses, by the requests' keys.
    ///   - ignoresValidators: fetches everything, changed or not.
    ///   - all: reads all kept bodies of requests that delete no rows.
    ///   - replaying: the states of the requests whose last kept bodies are read instead, without the network.
    package func plan(
        _ source: SourceDeclaration, bodies: [String: String] = [:], ignoresValidators: Bool = false,
        replaying known: [String: RequestState]? = nil, all: Bool = false,
        onChange: @escaping @Sendable (PlannedChange) throws -> Void
    ) async throws -> StackPlan {
        let run = StackRun(
            source, in: environment, mode: ignoresValidators ? .full : .force,
            replay: known.map { _ in Replay(readsAll: all) })
        let result: Result<StackPlan, any Error>
        do {
            result = .success(try await run.plan(bodies: bodies, replaying: known, onChange: onChange))
        } catch {
            result = .failure(error)
        }
        try await environment.http.shutdown()
        return try result.get()
    }

    /// Requests a refresh of sources now, regardless of their cache intervals; all sources for nil.
    public func refresh(_ names: [String]? = nil) { scheduler.refresh(names) }

    /// Reads from the store when sources are due that another process has run. Blocks its thread.
    ///
    /// - Throws: `StoreError`.
    package func noteRuns(of sources: [String]) throws {
        let states = try store.read { ledger in
            try sources.reduce(into: [:]) { $0[$1] = try ledger.sources.state(of: $1) }
        }
        scheduler.updateDueTimes(from: states)
    }

    /// Returns after a pass of the running service's scheduler.
    public func heartbeat() async { await scheduler.heartbeat() }

    /// Applies a new configuration, except `[store]`, which takes effect at the next start. Unchanged sources continue.
    public func reload(_ configuration: TributaryConfiguration) {
        current.withLock { $0 = configuration }
        environment.http.declare(configuration.enabledSources.flatMap(\.requests))
        scheduler.reload(configuration)
        group?.reload(configuration)
        hooks.reload(configuration)
        sampler.reload(configuration)
    }

    /// Updates the metrics that depend on the time, before they are read.
    package func refreshMetrics() { environment.metrics.refresh(now: environment.clock.now()) }

    /// Closes the store's connections. The service must not be used afterwards.
    ///
    /// - Throws: `StoreError`.
    public func close() throws { try store.close() }
}
