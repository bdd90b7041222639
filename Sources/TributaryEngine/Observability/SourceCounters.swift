import FeedModel
import Metrics
import Locking

/// What has been counted of one source, or of all of them together.
final class SourceCounters: Sendable {
    let received: Counter
    private let dimensions: [(String, String)]
    private let factory: any MetricsFactory
    private let inserted: Counter
    private let updated: Counter
    private let deleted: Counter
    private let runs: Mutex<[RunOutcome: Counter]>
    /// The outcomes that are told before there is a run of them, so that the first one is seen as an increase.
    private static let expected = [RunOutcome.committed, .unchanged, .discarded, .blocked]

    /// - Parameter source: nil for all of them together.
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
        (inserted, updated, deleted) = (rows("insert"), rows("update"), rows("delete"))
        runs = Mutex([:])
        for outcome in Self.expected { _ = counter(of: outcome) }
    }

    func note(_ report: RunReport) {
        counter(of: report.outcome).increment()
        inserted.increment(by: report.counts.inserted)
        updated.increment(by: report.counts.updated)
        deleted.increment(by: report.counts.deleted)
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

    /// Takes the source's series out of what is told.
    func destroy() {
        for counter in [received, inserted, updated, deleted] { counter.destroy() }
        for counter in runs.withLock({ Array($0.values) }) { counter.destroy() }
    }
}
