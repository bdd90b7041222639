package import FeedModel
import Foundation

/// A row of `tributary_run`.
package struct RunRow: Sendable {
    package var report: RunReport
    /// True if the commit kept before-images.
    var hasHistory = false
    /// The first and the last id of its entries in the changelog; nil for a run that has changed nothing.
    var firstChange: Int64?
    var lastChange: Int64?
    /// The transaction that wrote it; 0 if the store has no such column.
    var transaction: UInt64 = 0

    /// The run as those see it who follow the changelog.
    var changelogRun: ChangelogRun {
        ChangelogRun(
            position: RunPosition(transaction: transaction, run: report.number ?? 0), report: report,
            changes: firstChange.flatMap { first in lastChange.flatMap { first <= $0 ? first...$0 : nil } })
    }
}

extension RunReport {
    /// ``drift`` as JSON; nil without one.
    var driftText: String? {
        get { drift.isEmpty ? nil : try? JSONText.encode(drift) }
        set { drift = newValue.flatMap(JSONText.decode) ?? [] }
    }
}

/// A row of `tributary_request`.
package struct RequestRow: Sendable, Equatable {
    package var source: String
    package var state: RequestState

    package init(source: String, state: RequestState) {
        self.source = source
        self.state = state
    }
}

/// A row of `tributary_claim`.
struct ClaimRow: Sendable {
    var source: String
    var key: String
    /// The name in lower case.
    var table: String
    var scope: [String: String]
    var columns: Int64
    var folded: Int64

    init(_ source: String, _ state: RequestState, table: String) {
        self.source = source
        self.table = table
        key = state.key
        scope = state.scope
        let place = ScopePlace(state.scope)
        (columns, folded) = (place.columns, place.values)
    }
}

extension RequestState {
    /// The names of ``bodies``, with spaces between them; nil without one.
    var bodyNames: String? {
        get { bodies.isEmpty ? nil : bodies.joined(separator: " ") }
        set { bodies = newValue?.split(separator: " ").map(String.init) ?? [] }
    }
}

/// A row of `tributary_login`.
struct LoginRow: Sendable {
    var login: String
    var token: String?
    var renewedAt: Date?
    var holder: String?
    var heldUntil: Date?
}

/// A row of `tributary_host`.
package struct HostRow: Sendable {
    var origin: String
    var notBefore: Date
    var wait: Double?
}

/// A row of `tributary_hook_source`.
package struct HookSourceRow: Sendable {
    var hook: String
    var source: String
    var memory: HookMemory
}

/// A row of `tributary_rejected`.
package struct RejectedRow: Sendable, Encodable {
    package var id: Int64 = 0
    package var run: Int64
    package var source: String
    package var record: RejectedRecord

    private enum CodingKeys: String, CodingKey {
        case id, run, source, request, table, key, column, reason, record
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(run, forKey: .run)
        try container.encode(source, forKey: .source)
        try container.encode(record.request, forKey: .request)
        try container.encode(record.table, forKey: .table)
        try container.encode(record.key, forKey: .key)
        try container.encode(record.column, forKey: .column)
        try container.encode(record.reason, forKey: .reason)
        try container.encode(record.record, forKey: .record)
    }
}
