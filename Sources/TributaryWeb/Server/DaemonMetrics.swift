import CoreMetrics
package import TributaryEngine

/// Where the metrics of a daemon go.
package struct DaemonMetrics: Sendable {
    /// What Prometheus reads.
    let registry: PrometheusRegistry
    private let factory: any MetricsFactory

    /// Makes swift-metrics tell what Prometheus reads of this process. A program that has sent its metrics elsewhere sends
    /// those of the engine to both.
    package init() {
        let present = MetricsSystem.factory
        if let known = present as? PrometheusRegistry {
            (registry, factory) = (known, known)
            return
        }
        registry = .ofEngine()
        guard present is NOOPMetricsHandler else {
            factory = MultiplexMetricsHandler(factories: [present, registry])
            return
        }
        MetricsSystem.bootstrap(registry)
        factory = registry
    }

    /// Makes the engine whose metrics these are.
    package func measuring(_ makeService: () throws -> SyncService) throws -> SyncService {
        try withMetricsFactory(factory) { try makeService() }
    }
}

extension PrometheusRegistry {
    /// Creates a registry that knows what the engine's metrics mean.
    package static func ofEngine() -> PrometheusRegistry {
        PrometheusRegistry(
            MetricDefinition.all.map { MetricDescription(name: $0.name, help: $0.help, buckets: $0.buckets) })
    }
}
