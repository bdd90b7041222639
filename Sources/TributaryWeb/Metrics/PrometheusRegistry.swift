package import CoreMetrics
import FeedModel

/// A backend of swift-metrics that keeps the series for Prometheus: counters, gauges (meters, and recorders that do not
/// aggregate) and histograms (recorders that do, and timers, in seconds).
///
/// Metrics with equal names and labels share a series, which is removed when all of them are destroyed. A name of another
/// kind of metric, and any series beyond the limit, gets an invisible series, and is counted in
/// `metrics_refused_series_total`.
package final class PrometheusRegistry: MetricsFactory {
    private struct State {
        var families: [String: MetricFamily] = [:]
        /// The metric to which each name of a sample belongs.
        var sampleNames: [String: String] = [:]
        var count = 0
    }

    private let descriptions: [String: MetricDescription]
    private let limit: Int
    private let state = Mutex(State())
    private let refused = CounterSeries(labels: "")
    private let hasProcess: Bool

    /// - Parameters:
    ///   - limit: the most series.
    ///   - hasProcess: true to include the metrics of the process.
    package init(_ descriptions: [MetricDescription] = [], limit: Int = 1_000_000, hasProcess: Bool = true) {
        self.descriptions = Dictionary(descriptions.map { ($0.name, $0) }) { first, _ in first }
        self.limit = limit
        self.hasProcess = hasProcess
    }

    /// How many series there are.
    package var count: Int { state.withLock(\.count) }

    /// Returns all values, in the order of the metrics' names.
    package func exposition() -> Exposition {
        var families = state.withLock { Array($0.families.values) }.filter { !$0.series.isEmpty }
        if hasProcess { families += ProcessFigures.families() }
        var refusals = MetricFamily(
            name: "metrics_refused_series_total", kind: .counter,
            description: MetricDescription(
                name: "metrics_refused_series_total",
                help: "Series that were left out: their name was another metric's, or there were too many."))
        refusals.add(refused)
        return Exposition((families + [refusals]).sorted { $0.name < $1.name })
    }

    /// Returns the value of a metric without labels, and the number of observations of a histogram; nil if there is none.
    func value(of label: String) -> Double? {
        let name = MetricName.metric(label)
        return state.withLock { $0.families[name]?.series.first }?.number
    }

    // MARK: - MetricsFactory

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, .counter, dimensions) { labels, _ in CounterSeries(labels: labels) }
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, .realCounter, dimensions) { labels, _ in NumberSeries(labels: labels, onlyGrows: true) }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if aggregate { return histogram(label, dimensions) }
        return gauge(label, dimensions)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions)
    }

    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }

    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }

    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }

    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }

    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> NumberSeries {
        series(label, .gauge, dimensions) { labels, _ in NumberSeries(labels: labels) }
    }

    private func histogram(_ label: String, _ dimensions: [(String, String)]) -> HistogramSeries {
        series(label, .histogram, dimensions) { labels, description in
            HistogramSeries(labels: labels, bounds: description?.buckets ?? MetricDescription.defaultBuckets)
        }
    }

    private func series<Kind: Series>(
        _ label: String, _ kind: MetricFamily.Kind, _ dimensions: [(String, String)],
        make: (String, MetricDescription?) -> Kind
    ) -> Kind {
        let name = MetricName.metric(label)
        let labels = MetricName.labels(dimensions)
        let description = descriptions[label]
        let found: Kind? = state.withLock { state in
            if let known = state.families[name]?.kind {
                guard known == kind else { return nil }
                if let series = state.families[name]?.existing(labels) { return series as? Kind }
            } else {
                let family = MetricFamily(name: name, kind: kind, description: description)
                guard family.sampleNames.allSatisfy({ state.sampleNames[$0] == nil }) else { return nil }
                for sample in family.sampleNames { state.sampleNames[sample] = name }
                state.families[name] = family
            }
            guard state.count < limit else { return nil }
            let series = make(labels, description)
            state.families[name]?.add(series)
            state.count += 1
            return series
        }
        guard let found else {
            refused.increment(by: 1)
            return make(labels, description)
        }
        return found
    }

    private func remove(_ handler: AnyObject) {
        guard let series = handler as? any Series else { return }
        state.withLock { state in
            guard let name = state.families.first(where: { $0.value.holds(series) })?.key else { return }
            if state.families[name]?.release(series.labels) == true { state.count -= 1 }
        }
    }
}
