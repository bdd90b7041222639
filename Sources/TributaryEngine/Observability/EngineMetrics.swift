import FeedConfiguration
import FeedModel
import Foundation
import Metrics

/// The engine's metrics in swift-metrics. The program chooses their backend (`MetricsSystem`); without one, nothing is
/// counted.
///
/// Each source's series are created once, and looked up once for each run or response.
package final class EngineMetrics: Sendable {
    /// The metrics of runs that are not measured.
    static let none = EngineMetrics(factory: NOOPMetricsHandler.instance, perSource: false, declared: WatchedSources())

    private struct Source {
        var counters: SourceCounters
        /// nil for sources of other daemons, and for sources without series of their own.
        var gauges: MeterGroup?
        var figures: SourceState
        /// The number of the last noted run.
        var noted = 0
        /// True once the source's state was read from the store.
        var isKnown = false
    }

    private struct State {
        var declared: WatchedSources
        /// The declared sources that this daemon owns or has measured.
        var sources: [String: Source] = [:]
        var own: Set<String> = []
        /// The gauges of the engine; also of all sources together, if sources have no series of their own.
        var gauges: MeterGroup
        var notes = 0
        var codes: [String: Counter] = [:]
        var hooks: [String: MeterGroup] = [:]

        /// Returns which of the own sources with `fresh_within` are stale.
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
    /// The counters of all sources together, if sources have no series of their own.
    private let all: SourceCounters?
    private let state: Mutex<State>
    private let load = Mutex(Schedule.Load())
    private let runDuration: Metrics.Timer
    private let commitDuration: Metrics.Timer

    /// - Parameter perSource: false for series without the label of a source.
    init(factory: any MetricsFactory = MetricsSystem.factory, perSource: Bool, declared: WatchedSources) {
        isOn = !(factory is NOOPMetricsHandler)
        self.factory = factory
        self.perSource = perSource
        all = perSource ? nil : SourceCounters(source: nil, factory: factory)
        state = Mutex(State(declared: declared, gauges: MeterGroup(factory: factory)))
        runDuration = Metrics.Timer(label: MetricDefinition.runDuration.name, factory: factory)
        commitDuration = Metrics.Timer(label: MetricDefinition.commitDuration.name, factory: factory)
        let build = [("version", TributaryVersion.version), ("commit", TributaryVersion.commit)]
        Meter(label: MetricDefinition.buildInfo.name, dimensions: build, factory: factory).set(1)
    }

    // MARK: - What happens

    /// Counts a run that has ended.
    func note(_ report: RunReport) {
        guard isOn else { return }
        // A run that was not due sent no request, and has no duration.
        if report.outcome != .notDue { runDuration.recordSeconds(report.seconds) }
        let counters = state.withLock { state -> SourceCounters? in
            guard state.declared.names.contains(report.source) else { return all }
            state.notes += 1
            var source = state.sources[report.source] ?? made(report.source)
            source.figures.take(report)
            source.noted = state.notes
            source.gauges?.show([source.figures])
            state.sources[report.source] = source
            return source.counters
        }
        counters?.note(report)
    }

    /// Returns the counter of a source's received bytes; nil without a backend.
    func received(of name: String) -> Counter? {
        guard isOn else { return nil }
        return state.withLock { state in
            guard state.declared.names.contains(name) else { return all?.received }
            let source = state.sources[name] ?? made(name)
            state.sources[name] = source
            return source.counters.received
        }
    }

    /// Counts the answer to an HTTP request.
    ///
    /// - Parameter status: nil without an answer.
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

    /// Records the duration of a commit of rows.
    func committed(in seconds: Double) { if isOn { commitDuration.recordSeconds(seconds) } }

    func note(_ load: Schedule.Load) { if isOn { self.load.withLock { $0 = load } } }

    // MARK: - How things stand

    /// Sets the declared sources, and removes the series of others.
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

    /// Sets this daemon's sources. Other daemons report the states of theirs; this daemon's counters for them stay.
    func own(_ names: Set<String>) {
        state.withLock { state in
            let names = names.intersection(state.declared.names)
            for name in state.own.subtracting(names) {
                state.sources[name]?.gauges?.destroy()
                state.sources[name]?.gauges = nil
                state.sources[name]?.figures = SourceState(source: name)
                state.sources[name]?.isKnown = false
            }
            for name in names where state.sources[name] == nil || perSource && state.sources[name]?.gauges == nil {
                var source = state.sources[name] ?? made(name)
                if perSource { source.gauges = MeterGroup([("source", name)], factory: factory) }
                source.gauges?.show([source.figures])
                state.sources[name] = source
            }
            state.own = names
        }
    }

    /// The own sources whose states in the store have not been read.
    var unknown: Set<String> {
        state.withLock { state in state.own.filter { state.sources[$0]?.isKnown == false } }
    }

    /// The number of runs noted so far.
    var notes: Int { state.withLock(\.notes) }

    /// Applies the stored states of the own sources, except of those with a run noted meanwhile.
    ///
    /// - Parameters:
    ///   - notes: the number of notes before the states were read.
    ///   - deaths: returns the number of consecutive processes that died during a source's runs.
    func take(_ states: [String: SourceState], since notes: Int, deaths: (SourceState) -> Int) {
        state.withLock { state in
            for name in state.own {
                guard var source = state.sources[name], source.noted <= notes else { continue }
                source.isKnown = true
                // A source without a state was purged, or never ran.
                let known = states[name] ?? SourceState(source: name)
                source.figures = known.measured(deaths: deaths(known))
                source.gauges?.show([source.figures])
                state.sources[name] = source
            }
        }
    }

    /// Updates the gauges that depend on the time.
    func refresh(now: Date) {
        guard isOn else { return }
        let load = load.withLock(\.self)
        state.withLock { state in
            state.gauges.set(.schedulerLag, max(0, load.waitingSince.map { now.timeIntervalSince($0) } ?? 0))
            state.gauges.set(.running, Double(load.running))
            state.gauges.set(.waiting, Double(load.waiting))
            let figures = state.own.compactMap { state.sources[$0]?.figures }
            let stale = state.stale(now: now)
            for name in state.own { state.sources[name]?.gauges?.set(.stale, stale[name].map { $0 ? 1 : 0 }) }
            if !perSource {
                state.gauges.show(figures)
                state.gauges.set(.stale, Double(stale.values.count(where: \.self)))
            }
            let counts = Dictionary(grouping: figures, by: \.condition).mapValues(\.count)
            for word in SourceCondition.allCases where word <= .ok {
                state.gauges.set(.sources, of: word.rawValue, Double(counts[word] ?? 0))
            }
        }
    }

    func note(storeBytes bytes: Int64) { state.withLock { $0.gauges.set(.storeBytes, Double(bytes)) } }

    func note(_ report: HealthReport) {
        state.withLock { state in
            for (check, finding) in [("scheduler", report.scheduler), ("store", report.store)] {
                state.gauges.set(.healthy, of: check, finding == .good ? 1 : 0)
            }
        }
    }

    /// Sets the lags of hooks, and removes the series of others.
    func note(_ lags: [String: HookLag]) {
        state.withLock { state in
            for (name, meters) in state.hooks where lags[name] == nil {
                meters.destroy()
                state.hooks[name] = nil
            }
            for (name, lag) in lags {
                var meters = state.hooks[name] ?? MeterGroup([("hook", name)], factory: factory)
                meters.set(.hookLagRuns, Double(lag.runs))
                meters.set(.hookLagSeconds, lag.seconds)
                meters.set(.hookFailures, Double(lag.failures))
                state.hooks[name] = meters
            }
        }
    }

    private func made(_ name: String) -> Source {
        Source(
            counters: all ?? SourceCounters(source: name, factory: factory), figures: SourceState(source: name))
    }
}

/// The lag of a hook.
struct HookLag: Sendable, Equatable {
    var runs = 0
    /// The seconds since the end of the first of those runs.
    var seconds = 0.0
    /// The number of failed attempts to deliver the next event.
    var failures = 0
}

/// The counters of one source, or of all sources together.
final class SourceCounters: Sendable {
    let received: Counter
    private let dimensions: [(String, String)]
    private let factory: any MetricsFactory
    private let inserted: Counter
    private let updated: Counter
    private let deleted: Counter
    private let rejected: Counter
    private let runs: Mutex<[RunOutcome: Counter]>
    /// The outcomes with a series before their first run, so that the first run is an increase.
    private static let expected = [RunOutcome.committed, .unchanged, .discarded, .blocked]

    /// - Parameter source: nil for all sources together.
    init(source: String?, factory: any MetricsFactory) {
        let dimensions = source.map { [("source", $0)] } ?? []
        func rows(_ operation: String) -> Counter {
            Counter(
                label: MetricDefinition.rows.name, dimensions: dimensions + [("operation", operation)],
                factory: factory)
        }
        self.dimensions = dimensions
        self.factory = factory
        received = Counter(label: MetricDefinition.received.name, dimensions: dimensions, factory: factory)
        rejected = Counter(label: MetricDefinition.rejected.name, dimensions: dimensions, factory: factory)
        (inserted, updated, deleted) = (rows("insert"), rows("update"), rows("delete"))
        runs = Mutex([:])
        for outcome in Self.expected { _ = counter(of: outcome) }
    }

    func note(_ report: RunReport) {
        counter(of: report.outcome).increment()
        inserted.increment(by: report.counts.inserted)
        updated.increment(by: report.counts.updated)
        deleted.increment(by: report.counts.deleted)
        rejected.increment(by: report.rejected)
    }

    private func counter(of outcome: RunOutcome) -> Counter {
        runs.withLock { runs in
            if let known = runs[outcome] { return known }
            let counter = Counter(
                label: MetricDefinition.runs.name, dimensions: dimensions + [("outcome", outcome.rawValue)],
                factory: factory)
            runs[outcome] = counter
            return counter
        }
    }

    /// Removes the source's series.
    func destroy() {
        for counter in [received, inserted, updated, deleted, rejected] { counter.destroy() }
        for counter in runs.withLock({ Array($0.values) }) { counter.destroy() }
    }
}
