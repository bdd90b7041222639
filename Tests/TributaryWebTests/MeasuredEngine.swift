import CoreMetrics
import FeedConfiguration
import FeedModel
import Foundation
import TributaryWeb

@testable import TributaryEngine

/// Metrics as an engine tells them that has many sources, runs and hooks, but no store.
struct MeasuredEngine: Sendable {
    let registry: PrometheusRegistry
    let metrics: EngineMetrics
    let names: [String]
    /// All sources, each of which is stale after an hour.
    let watched: WatchedSources

    init(sources: Int, perSource: Bool = true) {
        registry = PrometheusRegistry.ofEngine()
        names = (0..<sources).map { "source-\($0)" }
        watched = WatchedSources(Set(names), freshWithin: Dictionary(uniqueKeysWithValues: names.map { ($0, 3600) }))
        metrics = EngineMetrics(factory: registry, perSource: perSource, declared: watched)
        metrics.own(Set(names))
        metrics.take([:], since: 0, deaths: { _ in 0 })
    }

    /// Something of everything that there is to tell.
    func work(at now: Date = Date()) {
        for (number, name) in names.enumerated() {
            let outcome: RunOutcome = [.committed, .unchanged, .discarded, .committed, .unchanged, .blocked][number % 6]
            let report = RunReport(
                source: name, outcome: outcome, startedAt: now - 60, seconds: Double(number % 7),
                counts: MergeCounts(inserted: 3, updated: 2, deleted: 1), bytes: 100, nextDue: now + 900)
            metrics.note(report)
            metrics.received(of: name)?.increment(by: 100)
            metrics.answered(outcome == .unchanged ? 304 : 200)
            if outcome == .committed { metrics.committed(in: 0.02) }
        }
        metrics.answered(nil)
        metrics.note(Schedule.Load(running: 2, waiting: 1, waitingSince: now - 5))
        metrics.note(storeBytes: 1 << 20)
        metrics.note(HealthReport(scheduler: .good, store: .failed("full")))
        metrics.note(["ops": HookLag(runs: 4, seconds: 30, failures: 2)])
        metrics.refresh(now: now)
    }

    func text() -> String {
        String(decoding: Array(registry.exposition().joined()), as: UTF8.self)
    }

    /// The samples of a metric, as they are written.
    func samples(_ name: String) -> [String] {
        text().split(separator: "\n").map(String.init).filter { $0.hasPrefix(name + " ") || $0.hasPrefix(name + "{") }
    }
}
