/// A metric of the engine: its name, its meaning and its labels.
package struct MetricDefinition: Sendable {
    package enum Kind: String, Sendable { case counter, gauge, histogram }

    package var name: String
    package var kind: Kind
    /// The names of the labels. The label `source` is omitted if series per source are disabled.
    package var labels: [String]
    /// The base unit at the end of the name, before `_total`; nil without one.
    package var unit: String?
    package var help: String
    /// The upper bounds of a histogram's buckets.
    package var buckets: [Double]

    private init(
        _ name: String, _ kind: Kind, _ labels: [String] = [], unit: String? = nil, buckets: [Double] = [],
        _ help: String
    ) {
        self.name = "tributary_" + name
        self.kind = kind
        self.labels = labels
        self.unit = unit
        self.help = help
        self.buckets = buckets
    }
}

extension MetricDefinition {
    static let buildInfo = Self("build_info", .gauge, ["version", "commit"], "1, labelled with what runs.")
    static let runs = Self(
        "runs_total", .counter, ["source", "outcome"],
        "Runs that have ended, by outcome: committed, unchanged, not_due, discarded, blocked, cancelled.")
    static let lastSuccess = Self(
        "last_success_timestamp_seconds", .gauge, ["source"], unit: "seconds",
        "When the last run ended that was committed or found nothing new, in seconds since 1970.")
    static let nextDue = Self(
        "next_due_timestamp_seconds", .gauge, ["source"], unit: "seconds",
        "When the source is due next, in seconds since 1970; +Inf where it is no longer fetched.")
    static let failures = Self(
        "consecutive_failures", .gauge, ["source"], "Runs that were discarded or blocked since the last good one.")
    static let failingSince = Self(
        "failing_since_timestamp_seconds", .gauge, ["source"], unit: "seconds",
        "The start of the first of the consecutive failed runs, in seconds since 1970.")
    static let blocked = Self("blocked", .gauge, ["source"], "1 where a run of the source waits for accept.")
    static let paused = Self("paused", .gauge, ["source"], "1 where the source waits for resume.")
    static let stale = Self(
        "stale", .gauge, ["source"],
        "1 where the last good run ended longer than fresh_within ago; no series without fresh_within.")
    static let sources = Self(
        "sources", .gauge, ["state"],
        "Sources of this daemon by state: ok, failing, blocked, paused, gone, or new before the end of their first run."
    )
    static let rows = Self(
        "rows_total", .counter, ["source", "operation"], "Rows that were committed: insert, update, delete.")
    static let received = Self(
        "received_bytes_total", .counter, ["source"], unit: "bytes",
        "Bytes of bodies that were received, before decompression.")
    static let runDuration = Self(
        "run_duration_seconds", .histogram, unit: "seconds",
        buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
        "How long runs took that asked a server, from their begin to their commit.")
    static let commitDuration = Self(
        "commit_duration_seconds", .histogram, unit: "seconds",
        buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10, 30, 60],
        "How long commits of rows took, with their wait for other commits.")
    static let httpRequests = Self(
        "http_requests_total", .counter, ["code"],
        "HTTP requests that were sent for sources, by the status of the answer; 'none' where none came.")
    static let schedulerLag = Self(
        "scheduler_lag_seconds", .gauge, unit: "seconds",
        "How long the source waits for its run that has waited longest since it was due; 0 where none waits.")
    static let running = Self("running", .gauge, [], "Runs in progress.")
    static let waiting = Self("waiting", .gauge, [], "Sources that are due, and wait for a place to run.")
    static let storeBytes = Self(
        "store_bytes", .gauge, unit: "bytes",
        "Bytes of the store: its file and its log, or its database on a server.")
    static let healthy = Self(
        "healthy", .gauge, ["check"], "1 where the scheduler answers, and the store can be written; 0 where not.")
    static let hookLagRuns = Self(
        "hook_lag_runs", .gauge, ["hook"], "Runs that are still to be delivered to a hook; 10000 stands for more.")
    static let hookLagSeconds = Self(
        "hook_lag_seconds", .gauge, ["hook"], unit: "seconds",
        "The age of the oldest run that is still to be delivered to a hook; 0 without such a run.")
    static let hookFailures = Self(
        "hook_consecutive_failures", .gauge, ["hook"], "How often a hook's next event could not be delivered.")

    /// All metrics of the engine.
    package static let all = [
        buildInfo, runs, lastSuccess, nextDue, failures, failingSince, blocked, paused, stale, sources, rows, received,
        runDuration, commitDuration, httpRequests, schedulerLag, running, waiting, storeBytes, healthy, hookLagRuns,
        hookLagSeconds, hookFailures,
    ]
}
