import FeedModel
import Foundation
import Metrics

/// A metric of the engine: its name, its meaning and its labels.
package struct MetricDefinition: Sendable {
    package enum Kind: String, Sendable { case counter, gauge, histogram }

    package var name: String
    package var kind: Kind
    /// The names of the labels. The label `source` is omitted if series per source are disabled.
    package var labels: [String]
    package var help: String
    /// The upper bounds of a histogram's buckets.
    package var buckets: [Double]

    private init(
        _ name: String, _ kind: Kind, _ labels: [String] = [], buckets: [Double] = [], _ help: String
    ) {
        self.name = "tributary_" + name
        self.kind = kind
        self.labels = labels
        self.help = help
        self.buckets = buckets
    }
}

extension MetricDefinition {
    static let buildInfo = Self(
        "build_info", .gauge, ["version", "commit"], "1, labelled with the version and its commit.")
    static let runs = Self(
        "runs_total", .counter, ["source", "outcome"],
        "Finished runs, by outcome: committed, unchanged, not_due, discarded, blocked, cancelled.")
    static let lastSuccess = Self(
        "last_success_timestamp_seconds", .gauge, ["source"],
        "When the last committed or unchanged run ended, in seconds since 1970.")
    static let nextDue = Self(
        "next_due_timestamp_seconds", .gauge, ["source"],
        "When the source is due next, in seconds since 1970; +Inf if it is no longer fetched.")
    static let failures = Self(
        "consecutive_failures", .gauge, ["source"], "Discarded and blocked runs since the last good one.")
    static let failingSince = Self(
        "failing_since_timestamp_seconds", .gauge, ["source"],
        "When the first of the consecutive failed runs began, in seconds since 1970.")
    static let blocked = Self("blocked", .gauge, ["source"], "1 if a run of the source waits for accept.")
    static let paused = Self("paused", .gauge, ["source"], "1 if the source waits for resume.")
    static let stale = Self(
        "stale", .gauge, ["source"],
        "1 if the last good run is older than fresh_within; no series without fresh_within.")
    static let sources = Self(
        "sources", .gauge, ["state"],
        "Sources of this daemon by state: ok, failing, blocked, paused, gone, or new (no run has ended)."
    )
    static let rows = Self(
        "rows_total", .counter, ["source", "operation"], "Committed rows: insert, update, delete.")
    static let rejected = Self(
        "rejected_records_total", .counter, ["source"],
        "Records that committed runs have left out because of an error (on_error = \"skip\").")
    static let received = Self(
        "received_bytes_total", .counter, ["source"], "Received bytes of bodies, before decompression.")
    package static let runDuration = Self(
        "run_duration_seconds", .histogram, buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
        "Duration of runs that sent a request.")
    static let commitDuration = Self(
        "commit_duration_seconds", .histogram,
        buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10, 30, 60],
        "Duration of commits of rows, including the wait for other commits.")
    static let httpRequests = Self(
        "http_requests_total", .counter, ["code"],
        "HTTP requests for sources, by status; 'none' without a response.")
    package static let schedulerLag = Self(
        "scheduler_lag_seconds", .gauge, [],
        "The longest time that a due source has been waiting for its run; 0 if no source is waiting.")
    static let running = Self("running", .gauge, [], "Runs in progress.")
    static let waiting = Self("waiting", .gauge, [], "Due sources that have not started.")
    package static let storeBytes = Self(
        "store_bytes", .gauge, [], "Size of the store's file and log; on a server, of its database.")
    static let healthy = Self(
        "healthy", .gauge, ["check"], "1 if the check of /healthz succeeds: scheduler, store; else 0.")
    static let hookLagRuns = Self(
        "hook_lag_runs", .gauge, ["hook"], "Runs that a hook has yet to receive; at most 10000.")
    static let hookLagSeconds = Self(
        "hook_lag_seconds", .gauge, ["hook"],
        "Age of the oldest run that a hook has yet to receive; 0 without such a run.")
    static let hookFailures = Self(
        "hook_consecutive_failures", .gauge, ["hook"], "Failed attempts to deliver the hook's next event.")

    /// All metrics of the engine.
    package static let all = [
        buildInfo, runs, lastSuccess, nextDue, failures, failingSince, blocked, paused, stale, sources, rows, rejected,
        received, runDuration, commitDuration, httpRequests, schedulerLag, running, waiting, storeBytes, healthy,
        hookLagRuns,
        hookLagSeconds, hookFailures,
    ]
}

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
