package import CoreMetrics
package import PrometheusMetrics
import TributaryEngine

/// Where the daemon's metrics go.
package enum DaemonMetrics {
    /// Returns what Prometheus reads of this process, and makes swift-metrics tell it: once, before the engine is made. A
    /// program that has sent its metrics elsewhere sends them to both.
    ///
    /// - Returns: also the factory with which the engine is to be made.
    package static func start() -> (registry: PrometheusRegistry, factory: any MetricsFactory) {
        let present = MetricsSystem.factory
        if let registry = present as? PrometheusRegistry { return (registry, registry) }
        let registry = PrometheusRegistry.ofEngine()
        guard present is NOOPMetricsHandler else {
            return (registry, MultiplexMetricsHandler(factories: [present, registry]))
        }
        MetricsSystem.bootstrap(registry)
        return (registry, registry)
    }
}

extension PrometheusRegistry {
    /// Creates a registry that knows what the engine's metrics mean.
    package static func ofEngine() -> PrometheusRegistry {
        PrometheusRegistry(MetricDefinition.all.map(MetricDescription.init))
    }
}

extension MetricDescription {
    init(_ definition: MetricDefinition) {
        self.init(name: definition.name, help: definition.help, unit: definition.unit, buckets: definition.buckets)
    }
}
