import FeedModel
import Foundation
import Metrics

/// The gauges with the same labels: of the engine, of one source or of one hook. Each has a series from its first value on.
/// An unknown value has none, because zero would be a time.
struct MeterGroup: Sendable {
    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]
    private var meters: [(name: String, label: String?, meter: Meter)] = []

    init(_ dimensions: [(String, String)] = [], factory: any MetricsFactory) {
        self.factory = factory
        self.dimensions = dimensions
    }

    /// - Parameters:
    ///   - label: the value of the metric's own label, if it has one beside those of the group.
    ///   - value: nil if it is unknown.
    mutating func set(_ definition: MetricDefinition, of label: String? = nil, _ value: Double?) {
        let index = meters.firstIndex { $0.name == definition.name && $0.label == label }
        switch (index, value) {
        case (let index?, let value?): meters[index].meter.set(value)
        case (let index?, nil): meters.remove(at: index).meter.destroy()
        case (nil, let value?):
            let own = label.map { [(definition.labels[0], $0)] } ?? []
            let meter = Meter(label: definition.name, dimensions: dimensions + own, factory: factory)
            meter.set(value)
            meters.append((definition.name, label, meter))
        case (nil, nil): break
        }
    }

    private mutating func set(_ definition: MetricDefinition, _ date: Date?) {
        set(definition, date.map { $0 == .distantFuture ? .infinity : $0.timeIntervalSince1970 })
    }

    /// Sets the gauges of one source, or of all sources together: the most consecutive failures, the numbers of blocked and
    /// paused sources, the last success, the first due time, and the earliest start of a failure.
    mutating func show(_ figures: [SourceState]) {
        set(.failures, Double(figures.map(\.failures).max() ?? 0))
        set(.blocked, Double(figures.count(where: \.isBlocked)))
        set(.paused, Double(figures.count(where: \.isPaused)))
        set(.lastSuccess, figures.compactMap(\.lastGood).max())
        set(.nextDue, figures.compactMap(\.nextDue).min())
        set(.failingSince, figures.compactMap(\.failingSince).min())
    }

    func destroy() { for entry in meters { entry.meter.destroy() } }
}
