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
    /// The runs that are looked at for a hook, at most.
    private static let mostLooked = 10_000

    private let environment: RunEnvironment
    private let hooks: Hooks
    private let health: Health
    private let executor: RunExecutor
    private let timer: DueTimer
    private let declared: Mutex<WatchedSources>
    /// True where somebody has asked for a look meanwhile.
    private let isAlarmed = Mutex(false)
    private var lastRead = Date.distantPast

    private var store: any MainStore { environment.store }
    private var metrics: EngineMetrics { environment.metrics }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ environment: RunEnvironment, hooks: Hooks, health: Health) {
        self.environment = environment
        self.hooks = hooks
        self.health = health
        executor = environment.serialExecutor("metrics")
        timer = DueTimer(clock: environment.clock)
        declared = Mutex(environment.configuration.watched)
    }

    /// Takes note of other sources.
    nonisolated func reload(_ configuration: TributaryConfiguration) {
        guard environment.metrics.isOn else { return }
        let watched = configuration.watched
        declared.withLock { $0 = watched }
        environment.metrics.declare(watched)
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
        environment.ownership?.onChange { [weak self] in self?.alarm() }
        timer.set(.distantPast)
        for await _ in timer.ticks {
            if Task.isCancelled { break }
            isAlarmed.withLock { $0 = false }
            look()
            metrics.note(await health.report())
            timer.set(environment.clock.now() + Self.secondsBetweenLooks)
            if isAlarmed.withLock(\.self) { timer.set(.distantPast) }
        }
        timer.set(nil)
    }

    /// What cannot be read keeps its last value: that the store cannot be used is told by its health.
    private func look() {
        let now = environment.clock.now()
        metrics.own(environment.ownership?.sources ?? declared.withLock(\.names))
        if abs(now.timeIntervalSince(lastRead)) >= Self.secondsBetweenReads || !metrics.unknown.isEmpty {
            if (try? readStates()) != nil { lastRead = now }
        }
        if let bytes = try? store.size() { metrics.note(storeBytes: bytes) }
        if let lags = try? hookLags(now: now) { metrics.note(lags) }
        metrics.refresh(now: now)
    }

    private func readStates() throws {
        let notes = metrics.notes
        let states = try store.sourceStates()
        metrics.take(states, since: notes, deaths: environment.attempts.deaths(before:))
    }

    private func hookLags(now: Date) throws -> [String: HookLag] {
        try hooks.places.reduce(into: [:]) { lags, place in
            guard var state = try store.hookState(place.hook.name) else { return }
            var lag = HookLag(failures: state.attempts)
            // Runs of which nothing is told are passed without the store being told so each time.
            if place.passed > state.position { (state.position, state.step) = (place.passed, 0) }
            var queue = try HookQueue(place.hook, store, state: state)
            let untold = try queue.countUntold(limit: Self.mostLooked)
            lag.runs = untold.count
            lag.seconds = untold.first.map { max(0, now.timeIntervalSince($0.finishedAt)) } ?? 0
            lags[place.hook.name] = lag
        }
    }
}
