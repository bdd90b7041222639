package import FeedModel
import FeedStores

extension JSONObject {
    /// A plan in JSON.
    ///
    /// - Parameters:
    ///   - counts: the counts of all changes, including those that the report omits.
    ///   - stack: the plan of a run; nil for an undo or a purge.
    package init(planOf source: String, _ counts: MergeCounts, _ report: PlanReport, stack: StackPlan? = nil) {
        self = [
            "source": source, "inserted": counts.inserted, "updated": counts.updated, "deleted": counts.deleted,
            "unchanged": counts.unchanged, "skipped": stack?.skipped ?? 0, "blocked": stack?.blocked,
            "requests": stack?.requests ?? [], "unmatched_elements": stack?.elements ?? [],
            "unmatched_columns": stack?.columns ?? [],
            "tables": report.tables.sorted { $0.key < $1.key }.map(Self.plan(of:_:)),
        ]
    }

    private static func plan(of name: String, _ table: PlanReport.Table) -> JSONObject {
        [
            "table": name, "inserted": table.inserted.map(\.row.object), "updated": table.updated.map(Self.update),
            "deleted": table.deleted.map(\.row.object), "counts": table.counts,
        ]
    }

    private static func update(_ change: PlannedChange) -> JSONObject {
        guard case .update(let old) = change.operation else { return [:] }
        let key = change.row.filter { value in change.key.contains { $0.lowercased() == value.column.lowercased() } }
        let changes = PlanReport.differences(old, change.row).map { ($0.column, [$0.old, $0.new]) }
        return ["key": key.object, "changes": Dictionary(changes) { first, _ in first }]
    }
}
