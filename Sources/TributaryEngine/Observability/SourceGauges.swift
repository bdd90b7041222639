import Foundation
import Metrics

/// The gauges of one source, or of all sources together. An unknown value has no series, because zero would be a time.
struct SourceGauges: Sendable {
    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]
    private let failures: Meter
    private let blocked: Meter
    private let paused: Meter
    private var lastSuccess: Meter?
    private var nextDue: Meter?
    private var failingSince: Meter?
    private var stale: Meter?

    /// - Parameter source: nil for all sources together.
    init(source: String?, factory: any MetricsFactory) {
        self.factory = factory
        dimensions = source.map { [("source", $0)] } ?? []
        failures = Meter(label: MetricDefinition.failures.name, dimensions: dimensions, factory: factory)
        blocked = Meter(label: MetricDefinition.blocked.name, dimensions: dimensions, factory: factory)
        paused = Meter(label: MetricDefinition.paused.name, dimensions: dimensions, factory: factory)
    }

    mutating func show(_ figures: SourceFigures) {
        show(
            failures: figures.failures, blocked: figures.isBlocked ? 1 : 0, paused: figures.isPaused ? 1 : 0,
            lastSuccess: figures.lastSuccess, nextDue: figures.nextDue, failingSince: figures.failingSince)
    }

    /// Sets the gauges of all sources together: the most consecutive failures, the numbers of blocked and paused
    /// sources, the last success, the first due time, and the earliest start of a failure.
    mutating func show(all figures: [SourceFigures]) {
        show(
            failures: figures.map(\.failures).max() ?? 0, blocked: figures.count(where: \.isBlocked),
            paused: figures.count(where: \.isPaused), lastSuccess: figures.compactMap(\.lastSuccess).max(),
            nextDue: figures.compactMap(\.nextDue).min(),
            failingSince: figures.compactMap(\.failingSince).min())
    }

    private mutating func show(
        failures: Int, blocked: Int, paused: Int, lastSuccess: Date?, nextDue: Date?, failingSince: Date?
    ) {
        self.failures.set(failures)
        self.blocked.set(blocked)
        self.paused.set(paused)
        show(lastSuccess, as: .lastSuccess, &self.lastSuccess)
        show(nextDue, as: .nextDue, &self.nextDue)
        show(failingSince, as: .failingSince, &self.failingSince)
    }

    private func show(_ date: Date?, as definition: MetricDefinition, _ meter: inout Meter?) {
        guard let date else {
            meter?.destroy()
            meter = nil
            return
        }
        let shown = meter ?? Meter(label: definition.name, dimensions: dimensions, factory: factory)
        shown.set(date == .distantFuture ? .infinity : date.timeIntervalSince1970)
        meter = shown
    }

    /// - Parameter count: the number of stale sources; nil if no source has `fresh_within`.
    mutating func show(stale count: Int?) {
        guard let count else {
            stale?.destroy()
            stale = nil
            return
        }
        let meter = stale ?? Meter(label: MetricDefinition.stale.name, dimensions: dimensions, factory: factory)
        meter.set(count)
        stale = meter
    }

    func destroy() {
        for meter in [failures, blocked, paused, lastSuccess, nextDue, failingSince, stale] { meter?.destroy() }
    }
}
