import FeedDeclarations
import FeedModel
import Foundation
import Metrics
import Locking

/// What the engine tells swift-metrics. Whoever runs the engine chooses where it goes (`MetricsSystem`); where that is
/// nowhere, nothing is counted or kept.
///
/// Each source's series are made once, and found by its name once for a run or a response.
package final class EngineMetrics: Sendable {
    /// For runs that nobody measures.
    static let none = EngineMetrics(factory: NOOPMetricsHandler.instance, perSource: false, declared: WatchedSources())

    private struct Source {
        var counters: SourceCounters
        /// nil where the source is another daemon's, or has no series of its own.
        var gauges: SourceGauges?
        var figures = SourceFigures()
        /// The number of the last note of a run.
        var noted = 0
        /// True once the store has told how the source stands.
        var isKnown = false
    }

    private struct State {
        var declared: WatchedSources
        /// The declared sources that this daemon has counted something of, or that are its own.
        var sources: [String: Source] = [:]
        var own: Set<String> = []
        /// Where sources have no series of their own: what stands for all of them.
        var gauges: SourceGauges?
        var notes = 0
        var codes: [String: Counter] = [:]
        var hooks: [String: HookMeters] = [:]

        /// Which of the own sources are stale, of those that may be.
        func stale(now: Date) -> [String: Bool] {
            declared.freshWithin.reduce(into: [:]) { stale, source in
                guard own.contains(source.key), let figures = sources[source.key]?.figures else { return }
                stale[source.key] = figures.isStale(after: source.value, now: now)
            }
        }
    }

    let isOn: Bool
    private let factory: any MetricsFactory
    private let perSource: Bool
    /// The counters of all sources together, where they have none of their own.
    private let all: SourceCounters?
    private let state: Mutex<State>
    private let load = Mutex(Schedule.Load())
    private let runDuration: Metrics.Timer
    private let commitDuration: Metrics.Timer
    private let schedulerLag: Meter
    private let running: Meter
    private let waiting: Meter
    private let storeBytes: Meter
    /// Those of the scheduler and of the store, once they have been asked.
    private let health = Mutex<[Meter]>([])
    private let states: [SourceFigures.State: Meter]

    /// - Parameter perSource: false where no series is labelled with a source.
    init(factory: any MetricsFactory = MetricsSystem.factory, perSource: Bool, declared: WatchedSources) {
        func meter(_ definition: MetricDefinition, _ dimensions: [(String, String)] = []) -> Meter {
            Meter(label: definition.name, dimensions: dimensions, factory: factory)
        }
        isOn = !(factory is NOOPMetricsHandler)
        self.factory = factory
        self.perSource = perSource
        all = perSource ? nil : SourceCounters(source: nil, factory: factory)
        state = Mutex(State(declared: declared))
        runDuration = Metrics.Timer(label: MetricDefinition.runDuration.name, factory: factory)
        commitDuration = Metrics.Timer(label: MetricDefinition.commitDuration.name, factory: factory)
        (schedulerLag, running, waiting) = (meter(.schedulerLag), meter(.running), meter(.waiting))
        storeBytes = meter(.storeBytes)
        states = SourceFigures.State.allCases.reduce(into: [:]) { meters, state in
            meters[state] = meter(.sources, [("state", state.rawValue)])
        }
        meter(.buildInfo, [("version", TributaryVersion.version), ("commit", TributaryVersion.commit)]).set(1)
    }

    // MARK: - What happens

    /// Takes note of a run that has ended.
    func note(_ report: RunReport) {
        guard isOn else { return }
        // Nothing was sent, and there is nothing to measure.
        if report.outcome != .notDue { runDuration.recordSeconds(report.seconds) }
        let counters = state.withLock { state -> SourceCounters? in
            guard state.declared.names.contains(report.source) else { return all }
            state.notes += 1
            var source = state.sources[report.source] ?? made(report.source)
            source.figures.note(report)
            source.noted = state.notes
            source.gauges?.show(source.figures)
            state.sources[report.source] = source
            return source.counters
        }
        counters?.note(report)
    }

    /// Returns what counts the bytes of a source's bodies; nil where nobody counts.
    func received(of name: String) -> Counter? {
        guard isOn else { return nil }
        return state.withLock { state in
            guard state.declared.names.contains(name) else { return all?.received }
            let source = state.sources[name] ?? made(name)
            state.sources[name] = source
            return source.counters.received
        }
    }

    /// Takes note of the answer to an HTTP request.
    ///
    /// - Parameter status: nil where none came.
    func answered(_ status: Int?) {
        guard isOn else { return }
        let code = status.map { (100...599).contains($0) ? String($0) : "other" } ?? "none"
        let counter = state.withLock { state in
            if let known = state.codes[code] { return known }
            let counter = Counter(
                label: MetricDefinition.httpRequests.name, dimensions: [("code", code)], factory: factory)
            state.codes[code] = counter
            return counter
        }
        counter.increment()
    }

    /// Takes note of a commit of rows, and how many seconds it took.
    func committed(in seconds: Double) { if isOn { commitDuration.recordSeconds(seconds) } }

    func note(_ load: Schedule.Load) { if isOn { self.load.withLock { $0 = load } } }

    // MARK: - How things stand

    /// Declares which sources there are. Series of others are gone.
    func declare(_ declared: WatchedSources) {
        let gone = state.withLock { state in
            state.declared = declared
            state.own.formIntersection(declared.names)
            let gone = state.sources.filter { !declared.names.contains($0.key) }
            for name in gone.keys { state.sources[name] = nil }
            return gone.values
        }
        for source in gone {
            source.gauges?.destroy()
            if source.counters !== all { source.counters.destroy() }
        }
    }

    /// Tells which of the sources are this daemon's. How others stand is for others to tell; what was counted of them here
    /// stays.
    func own(_ names: Set<String>) {
        state.withLock { state in
            let names = names.intersection(state.declared.names)
            for name in state.own.subtracting(names) {
                state.sources[name]?.gauges?.destroy()
                state.sources[name]?.gauges = nil
                state.sources[name]?.figures = SourceFigures()
                state.sources[name]?.isKnown = false
            }
            for name in names where state.sources[name] == nil || perSource && state.sources[name]?.gauges == nil {
                var source = state.sources[name] ?? made(name)
                if perSource { source.gauges = SourceGauges(source: name, factory: factory) }
                source.gauges?.show(source.figures)
                state.sources[name] = source
            }
            state.own = names
        }
    }

    /// The own sources whose states in the store have not been read.
    var unknown: Set<String> {
        state.withLock { state in state.own.filter { state.sources[$0]?.isKnown == false } }
    }

    /// The number of runs that were noted so far.
    var notes: Int { state.withLock(\.notes) }

    /// Takes over how the own sources stand in the store, but for those of which a run was noted meanwhile.
    ///
    /// - Parameters:
    ///   - notes: the number of notes before the states were read.
    ///   - deaths: how many processes in a row have died during a source's runs.
    func take(_ states: [String: SourceState], since notes: Int, deaths: (SourceState) -> Int) {
        state.withLock { state in
            for name in state.own {
                guard var source = state.sources[name], source.noted <= notes else { continue }
                source.isKnown = true
                if let known = states[name] {
                    source.figures.take(known, deaths: deaths(known))
                } else {
                    // It was purged, or never ran.
                    source.figures = SourceFigures()
                }
                source.gauges?.show(source.figures)
                state.sources[name] = source
            }
        }
    }

    /// Tells what follows from what is known, and from the time.
    func refresh(now: Date) {
        guard isOn else { return }
        let load = load.withLock(\.self)
        schedulerLag.set(max(0, load.waitingSince.map { now.timeIntervalSince($0) } ?? 0))
        running.set(load.running)
        waiting.set(load.waiting)
        let figures = state.withLock { state in
            let figures = state.own.compactMap { state.sources[$0]?.figures }
            let stale = state.stale(now: now)
            for name in state.own { state.sources[name]?.gauges?.show(stale: stale[name].map { $0 ? 1 : 0 }) }
            if !perSource {
                var gauges = state.gauges ?? SourceGauges(source: nil, factory: factory)
                gauges.show(all: figures)
                gauges.show(stale: stale.values.count(where: \.self))
                state.gauges = gauges
            }
            return figures
        }
        let counts = figures.reduce(into: [:]) { counts, figures in counts[figures.state, default: 0] += 1 }
        for (state, meter) in states { meter.set(counts[state] ?? 0) }
    }

    func note(storeBytes bytes: Int64) { storeBytes.set(bytes) }

    func note(_ report: HealthReport) {
        health.withLock { health in
            if health.isEmpty {
                health = ["scheduler", "store"].map { check in
                    Meter(label: MetricDefinition.healthy.name, dimensions: [("check", check)], factory: factory)
                }
            }
            for (meter, finding) in zip(health, [report.scheduler, report.store]) {
                meter.set(finding == .good ? 1 : 0)
            }
        }
    }

    /// Tells how far hooks have come. Series of others are gone.
    func note(_ lags: [String: HookLag]) {
        state.withLock { state in
            for (name, meters) in state.hooks where lags[name] == nil {
                meters.destroy()
                state.hooks[name] = nil
            }
            for (name, lag) in lags {
                let meters = state.hooks[name] ?? HookMeters(name, factory: factory)
                meters.show(lag)
                state.hooks[name] = meters
            }
        }
    }

    private func made(_ name: String) -> Source {
        Source(counters: all ?? SourceCounters(source: name, factory: factory))
    }
}
