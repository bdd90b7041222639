package import Foundation

/// The kind of an event.
public enum HookEventKind: String, Sendable, CaseIterable, Codable {
    /// A commit has changed rows.
    case changed
    /// A source has failed for longer than the hook's `after`.
    case failing
    /// A source that the hook knows as failing or stale has had a good run.
    case recovered
    /// A source has had no good run for longer than its `fresh_within`.
    case stale
    /// The documents of a commit have another form than those before.
    case drifted
    /// A run was blocked, as it would have changed more rows than allowed.
    case blocked
    /// The runs between the hook's last event and the present have been deleted. Every hook receives it.
    case forgotten
    /// A user tests the hook. Only `hook test` sends it.
    case test

    /// The kinds that a hook may declare.
    package static let declarable: [HookEventKind] = [.changed, .failing, .stale, .recovered, .blocked, .drifted]
}

/// What is said of a changed row.
package enum ChangeFormat: String, Sendable, CaseIterable {
    /// Its table and its key.
    case key
    /// Table, key, and the row before and after the change.
    case values
    /// Table, key, and the row before and after the change, as Debezium writes them.
    case debezium

    package var hasImages: Bool { self != .key }
}

/// A message to a hook, as JSON.
package struct HookEvent: Sendable, Equatable {
    /// The event's identity, equal in each attempt to deliver it.
    package var id: String
    package var kind: HookEventKind
    package var hook: String
    package var source: String?
    /// The run that caused it; nil without one, for example if the source is no longer fetched.
    package var run: Int64?
    package var time: Date
    package var report: RunReport?
    package var error: String?
    package var failingSince: Date?
    /// When the last good run ended, of a source that is stale.
    package var lastGood: Date?
    package var changes: [ChangelogEntry] = []
    package var format = ChangeFormat.key
    package var changesOmitted = 0

    package init(id: String, kind: HookEventKind, hook: String, source: String?, run: Int64? = nil, time: Date) {
        self.id = id
        self.kind = kind
        self.hook = hook
        self.source = source
        self.run = run
        self.time = time
    }

    /// The bytes that are sent.
    package func body() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(self)
    }
}

extension HookEvent: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, type, hook, source, run, time, test, outcome, inserted, updated, deleted, unchanged, skipped, bytes
        case seconds, error, drift, changes
        case failingSince = "failing_since"
        case lastGood = "last_good"
        case changesOmitted = "changes_omitted"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(kind, forKey: .type)
        try container.encode(hook, forKey: .hook)
        try container.encode(source, forKey: .source)
        try container.encode(run, forKey: .run)
        try container.encode(time, forKey: .time)
        if kind == .test { try container.encode(true, forKey: .test) }
        try container.encode(report?.outcome, forKey: .outcome)
        let counts = report?.counts ?? MergeCounts()
        try container.encode(counts.inserted, forKey: .inserted)
        try container.encode(counts.updated, forKey: .updated)
        try container.encode(counts.deleted, forKey: .deleted)
        try container.encode(counts.unchanged, forKey: .unchanged)
        try container.encode(report?.skipped ?? 0, forKey: .skipped)
        try container.encode(report?.bytes ?? 0, forKey: .bytes)
        try container.encode(report?.seconds ?? 0, forKey: .seconds)
        try container.encode(error, forKey: .error)
        try container.encode(failingSince, forKey: .failingSince)
        try container.encode(lastGood, forKey: .lastGood)
        try container.encode(report?.drift ?? [], forKey: .drift)
        if format == .debezium, let source, let run {
            let rows = changes.map { DebeziumChange($0, source: source, run: run, time: time) }
            try container.encode(rows, forKey: .changes)
        } else {
            try container.encode(changes, forKey: .changes)
        }
        try container.encode(changesOmitted, forKey: .changesOmitted)
    }
}
