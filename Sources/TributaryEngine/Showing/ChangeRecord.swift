import FeedModel
package import FeedStores
import Foundation

/// A changed row in JSON: a line of `changes --json`.
package struct ChangeRecord: Encodable {
    private var run: Int64
    private var source: String
    private var started_at: Date
    private var table: String
    private var operation: String
    private var key: [String: StoredValue]
    private var old: [String: StoredValue]?
    private var new: [String: StoredValue]?
    /// True if the row has been changed since, so that its values after the run are unknown.
    private var changed_since: Bool

    package init(_ change: RowChange) {
        run = change.run
        source = change.source
        started_at = change.startedAt
        table = change.table
        operation = change.operation
        key = Self.object(change.key)
        old = change.old.map(Self.object)
        new = change.new.map(Self.object)
        changed_since = !change.isKnown
    }

    private static func object(_ values: RowChange.Values) -> [String: StoredValue] {
        Dictionary(values.map { ($0.column, $0.value) }) { first, _ in first }
    }
}
