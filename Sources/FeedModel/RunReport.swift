public import Foundation

/// The result of one run of one source: a row of `tributary_run`, a line of `sync --json`, an element of
/// `SyncService.outcomes`.
public struct RunReport: Sendable, Equatable {
    /// The number of the run in the store, where it has been read from there.
    public var number: Int64?
    public var source: String
    /// The kind of the run; nil for a refresh.
    public var kind: RunKind?
    public var outcome: RunOutcome
    public var startedAt: Date
    /// The duration; of several polls, that of the longest.
    public var seconds: Double
    /// The number of consecutive polls with the same answers that the row of an unchanged run counts.
    public var polls = 1
    /// When the last of several polls ended; nil for one.
    package var lastPoll: Date?
    public var counts: MergeCounts
    /// Records that were dropped, as the request's declaration demands.
    public var skipped: Int
    /// Those of them that were left out because of an error (`on_error = "skip"`). Not stored.
    package var rejected = 0
    /// Their number with the first reasons; nil without one.
    package var rejection: String?
    /// Bytes of all bodies, after decompression; of an archive of documents, its own.
    public var bytes: Int
    /// The reason why the run was discarded or blocked, and what to do about it.
    public var error: String?
    /// A remark, such as why nothing was sent or what the commit has left undone.
    public var note: String?
    /// The run to which an undo has brought the rows back.
    public var restoredRun: Int64?
    /// The results of its requests; of several polls, those of the longest.
    public var requests: [RequestReport]
    /// The time at which the source is due again.
    public var nextDue: Date?
    /// The start of the first of the consecutive failed runs that this run continues or ends.
    public var failingSince: Date?
    /// The changes in the form of the documents, by request.
    public var drift: [Drift] = []

    public init(
        number: Int64? = nil, source: String, outcome: RunOutcome, startedAt: Date, seconds: Double = 0,
        counts: MergeCounts = MergeCounts(), skipped: Int = 0, bytes: Int = 0, error: String? = nil,
        note: String? = nil,
        requests: [RequestReport] = [], nextDue: Date? = nil
    ) {
        self.number = number
        self.source = source
        self.outcome = outcome
        self.startedAt = startedAt
        self.seconds = seconds
        self.counts = counts
        self.skipped = skipped
        self.bytes = bytes
        self.error = error
        self.note = note
        self.requests = requests
        self.nextDue = nextDue
    }

    /// When it ended; of several polls, the last one. Read ``polls`` from a row before it.
    package var finishedAt: Date {
        get { lastPoll ?? startedAt + seconds }
        set { lastPoll = polls > 1 ? newValue : nil }
    }
}

extension RunReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case source, kind, outcome, inserted, updated, deleted, unchanged, replaced, skipped, bytes, seconds, error
        case note, requests, drift, rejected
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(source, forKey: .source)
        try container.encodeIfPresent(kind, forKey: .kind)
        try container.encode(outcome, forKey: .outcome)
        try container.encode(counts.inserted, forKey: .inserted)
        try container.encode(counts.updated, forKey: .updated)
        try container.encode(counts.deleted, forKey: .deleted)
        try container.encode(counts.unchanged, forKey: .unchanged)
        try container.encode(counts.replaced, forKey: .replaced)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(seconds, forKey: .seconds)
        try container.encode(error, forKey: .error)
        try container.encodeIfPresent(note, forKey: .note)
        try container.encode(requests, forKey: .requests)
        try container.encode(drift, forKey: .drift)
        try container.encodeIfPresent(rejection, forKey: .rejected)
    }
}

/// The kind of a run that sends no request.
public enum RunKind: String, Sendable, Codable, CaseIterable {
    /// The bodies that had been kept were read once more.
    case replay
    /// The rows that the source had written were deleted, and all that was remembered of it.
    case purge
    /// The rows of the source were restored to an earlier state.
    case undo
}

/// The outcome of a run of a source.
public enum RunOutcome: String, Sendable, Codable, CaseIterable {
    /// The whole stack was merged into the main store.
    case committed
    /// No request was parsed into rows: each was unchanged, or gave only values for other requests.
    case unchanged
    /// The source was not due; nothing was sent.
    case notDue = "not_due"
    /// Something failed; the main store's rows are unchanged.
    case discarded
    /// The commit would have exceeded a change limit, or missed an expectation. It waits for `accept`; the main
    /// store's rows are unchanged.
    case blocked
    /// The run was stopped; the main store's rows are unchanged.
    case cancelled

    /// True if the next run is due after the source's cache interval, and not after its back-off.
    public var isGood: Bool { self == .committed || self == .unchanged }
    /// True if the source counts one failure more.
    public var isFailure: Bool { self == .discarded || self == .blocked }
}
