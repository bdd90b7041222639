package import FeedModel
import FeedStores
import Foundation

/// A plan in JSON.
package struct PlanOutput: Encodable {
    private struct Table: Encodable {
        var table: String
        var inserted: [[String: StoredValue]]
        var updated: [Update]
        var deleted: [[String: StoredValue]]
        var counts: MergeCounts
    }

    private struct Update: Encodable {
        var key: [String: StoredValue]
        /// Old and new value, by column.
        var changes: [String: [StoredValue]]
    }

    var source: String
    var inserted: Int
    var updated: Int
    var deleted: Int
    var unchanged: Int
    var skipped = 0
    private var tables: [Table]
    /// The reason why a run would be blocked.
    var blocked: String?
    var requests: [RequestReport] = []
    var unmatched_elements: [StackPlan.Unmatched] = []
    var unmatched_columns: [StackPlan.Unmatched] = []
    /// The digest that applies exactly these changes; nil if not offered.
    package var digest: String?

    package init(source: String, plan: StackPlan, report: PlanReport) {
        self.init(source: source, counts: plan.counts, report: report)
        skipped = plan.skipped
        blocked = plan.blocked
        requests = plan.requests
        unmatched_elements = plan.elements
        unmatched_columns = plan.columns
    }

    /// - Parameter counts: the counts of all changes, including those that the report omits.
    package init(source: String, counts: MergeCounts, report: PlanReport) {
        self.source = source
        inserted = counts.inserted
        updated = counts.updated
        deleted = counts.deleted
        unchanged = counts.unchanged
        tables = report.tables.sorted { $0.key < $1.key }.map { name, table in
            Table(
                table: name, inserted: table.inserted.map { Self.object($0.row) },
                updated: table.updated.map(Self.update), deleted: table.deleted.map { Self.object($0.row) },
                counts: table.counts)
        }
    }

    private static func object(_ values: PlannedChange.Values) -> [String: StoredValue] {
        Dictionary(values.map { ($0.column, $0.value) }) { first, _ in first }
    }

    private static func update(_ change: PlannedChange) -> Update {
        guard case .update(let old) = change.operation else { return Update(key: [:], changes: [:]) }
        let key = change.row.filter { value in change.key.contains { $0.lowercased() == value.column.lowercased() } }
        let changes = PlanReport.differences(old, change.row).map {
            ($0.column, [$0.old, $0.new])
        }
        return Update(key: object(key), changes: Dictionary(changes) { first, _ in first })
    }
}
