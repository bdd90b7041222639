import Metrics

/// How far a hook has come.
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

/// What a hook has not dealt with yet.
struct HookLag: Sendable, Equatable {
    var runs = 0
    /// The seconds since the first of those runs has ended.
    var seconds = 0.0
    /// How often the next event could not be delivered.
    var failures = 0
}
