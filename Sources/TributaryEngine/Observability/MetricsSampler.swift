import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import Locking

/// Looks from time to time at what nobody tells of: how large the store is, how far hooks have come, whether all is well,
/// and how sources stand that another process has changed.
///
/// An actor on a queue of its own: a store that is slow to answer blocks that queue's thread.
actor MetricsSampler {
    private static let secondsBetweenLooks = 15.0
    /// All states are read less often, as they may be many.
    private static let secondsBetweenReads = 60.0

    private let store: any MainStore
    private let metrics: EngineMetrics
    private let clock: any RunClock
    /// The sources that this daemon may run; nil where no other daemon shares them.
    private let ownership: Ownership?
    private let deaths: @Sendable (SourceState) -> Int
    private let hookLags: @Sendable (Date) throws -> [String: HookLag]
    private let health: Health
    private let executor: RunExecutor
    private let timer: DueTimer
    private let declared: Mutex<WatchedSources>
    /// True where somebody has asked for a look meanwhile.
    private let isAlarmed = Mutex(false)
    private var lastRead = Date.distantPast

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - ownership: the sources that this daemon may run; nil where no other daemon shares them.
    ///   - deaths: returns how many processes in a row have died during a source's runs.
    ///   - hookLags: returns how far hooks have come, by their names.
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

    /// Takes note of other sources.
    nonisolated func reload(_ configuration: TributaryConfiguration) {
        guard metrics.isOn else { return }
        let watched = configuration.watched
        declared.withLock { $0 = watched }
        metrics.declare(watched)
        alarm()
    }

    private nonisolated func alarm() {
        isAlarmed.withLock { $0 = true }
        timer.set(.distantPast)
    }

    /// Tells how the sources stand before the first run.
    func prepare() { if metrics.isOn { look() } }

    /// Runs until the task is cancelled.
    func run() async {
        guard metrics.isOn else { return }
        ownership?.onChange { [weak self] in self?.alarm() }
        timer.set(.distantPast)
        for await _ in timer.ticks {
            if Task.isCancelled { break }
            isAlarmed.withLock { $0 = false }
            look()
            metrics.note(await health.report())
            timer.set(clock.now() + Self.secondsBetweenLooks)
            if isAlarmed.withLock(\.self) { timer.set(.distantPast) }
        }
        timer.set(nil)
    }

    /// What cannot be read keeps its last value: that the store cannot be used is told by its health.
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
        let states = try store.sourceStates()
        metrics.take(states, since: notes, deaths: deaths)
    }
}
