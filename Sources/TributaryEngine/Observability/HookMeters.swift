import Metrics

/// The meters of a hook.
struct HookMeters: Sendable {
    private let runs: Meter
    private let seconds: Meter
    private let failures: Meter

    init(_ hook: String, factory: any MetricsFactory) {
        func meter(_ definition: MetricDefinition) -> Meter {
            Meter(label: definition.name, dimensions: [("hook", hook)], factory: factory)
        }
        (runs, seconds, failures) = (meter(.hookLagRuns), meter(.hookLagSeconds), meter(.hookFailures))
    }

    func show(_ lag: HookLag) {
        runs.set(lag.runs)
        seconds.set(lag.seconds)
        failures.set(lag.failures)
    }

    func destroy() { for meter in [runs, seconds, failures] { meter.destroy() } }
}

/// The lag of a hook.
struct HookLag: Sendable, Equatable {
    var runs = 0
    /// The seconds since the end of the first of those runs.
    var seconds = 0.0
    /// The number of failed attempts to deliver the next event.
    var failures = 0
}
