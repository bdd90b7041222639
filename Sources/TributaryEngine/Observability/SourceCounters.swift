import FeedModel
import Metrics

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
