import FeedConfiguration
import FeedModel
import FeedStores
import Foundation

/// Samples the metrics that no run reports: the size of the store, the lag of hooks, the health, and the states of
/// sources that another process has changed.
///
/// An actor on its own queue, because a slow store blocks the queue's thread.
actor MetricsSampler {
    private static let secondsBetweenLooks = 15.0
    /// The interval between two reads of all states, of which there may be many.
    private static let secondsBetweenReads = 60.0

    private let store: any MainStore
    private let metrics: EngineMetrics
    private let clock: any RunClock
    /// The sources that this daemon may run; nil if no other daemon shares the store.
    private let ownership: Ownership?
    private let deaths: @Sendable (SourceState) -> Int
    private let hookLags: @Sendable (Date) throws -> [String: HookLag]
    private let health: Health
    private let executor: RunExecutor
    private let timer: DueTimer
    private let declared: Mutex<WatchedSources>
    private var lastRead = Date.distantPast

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - ownership: the sources that this daemon may run; nil if no other daemon shares the store.
    ///   - deaths: returns the number of consecutive processes that died during a source's runs.
    ///   - hookLags: returns the lags of hooks, by name.
    init(
        _ store: any MainStore, _ metrics: EngineMetrics, declared: WatchedSources, ownership: Ownership?,
        clock: any RunClock, executor: RunExecutor, health: Health, deaths: @escaping @Sendable (SourceState) -> Int,
        hookLags: @escaping @Sendable (Date) throws -> [String: HookLag]
    ) {
        self.store = store
        self.metrics = metrics
        self.ownership = ownership
        self.clock = clock
        self.executor = executor
        self.health = health
        self.deaths = deaths
        self.hookLags = hookLags
        timer = DueTimer(clock: clock)
        self.declared = Mutex(declared)
    }

    /// Applies a new configuration.
    nonisolated func reload(_ configuration: TributaryConfiguration) {
        guard metrics.isOn else { return }
        let watched = configuration.watched
        declared.withLock { $0 = watched }
        metrics.declare(watched)
        timer.set(.distantPast)
    }

    /// Samples once, before the first run.
    func prepare() { if metrics.isOn { look() } }

    /// Runs until the task is cancelled.
    func run() async {
        guard metrics.isOn else { return }
        ownership?.onChange { [weak timer] in timer?.set(.distantPast) }
        await timer.run {
            look()
            metrics.note(await health.report())
            return clock.now() + Self.secondsBetweenLooks
        }
    }

    /// Samples the metrics. After an error, a metric keeps its last value; the health shows that the store is unusable.
    private func look() {
        let now = clock.now()
        metrics.own(ownership?.sources ?? declared.withLock(\.names))
        if abs(now.timeIntervalSince(lastRead)) >= Self.secondsBetweenReads || !metrics.unknown.isEmpty {
            if (try? readStates()) != nil { lastRead = now }
        }
        if let bytes = try? store.size() { metrics.note(storeBytes: bytes) }
        if let lags = try? hookLags(now) { metrics.note(lags) }
        metrics.refresh(now: now)
    }

    private func readStates() throws {
        let notes = metrics.notes
        let states = try store.read { try $0.sources.all() }
        metrics.take(states, since: notes, deaths: deaths)
    }
}
