package import FeedModel
import FeedStores

/// The changes of a plan: a limited number of rows, and the counts of all.
package struct PlanReport: Sendable {
    package struct Table: Sendable {
        package var inserted: [PlannedChange] = []
        package var updated: [PlannedChange] = []
        package var deleted: [PlannedChange] = []
        package var counts = MergeCounts()

        fileprivate mutating func add(_ change: PlannedChange, limit: Int) {
            func keep(_ changes: inout [PlannedChange]) {
                if limit == 0 || changes.count < limit { changes.append(change) }
            }
            switch change.operation {
            case .insert:
                counts.inserted += 1
                keep(&inserted)
            case .update:
                counts.updated += 1
                keep(&updated)
            case .delete:
                counts.deleted += 1
                keep(&deleted)
            }
        }
    }

    package let limit: Int
    /// What shows the changes beyond the limit, for people.
    package let more: String
    package private(set) var tables: [String: Table] = [:]

    package init(limit: Int, more: String = "--limit 0 shows all") {
        self.limit = limit
        self.more = more
    }

    /// The changes that a blocked run would make.
    ///
    /// - Parameter limit: the most of a table and kind that are shown.
    package init(_ review: ChangeReview, limit: Int) {
        if limit > 0 {
            self.init(limit: limit)
        } else {
            self.init(limit: limit, more: "a review keeps \(ChangeReviewer.most.rows) rows")
        }
        for row in review.rows {
            func values(_ cells: [ChangeReview.Cell]) -> PlannedChange.Values { cells.map { ($0.column, $0.value) } }
            // For an updated row, the key and the differing columns.
            let key = row.operation == .update ? values(row.key) : []
            let changed = Set(row.old.map(\.column))
            let same = key.filter { !changed.contains($0.column) }
            let operation: PlannedChange.Operation =
                switch row.operation {
                case .insert: .insert
                case .update: .update(old: same + values(row.old))
                case .delete: .delete
                }
            add(
                PlannedChange(
                    table: row.table, operation: operation,
                    row: same + values(row.operation == .delete ? row.old : row.new), key: row.key.map(\.column)))
        }
        for table in review.tables {
            tables[table.table, default: Table()].counts = MergeCounts(
                inserted: table.inserted, updated: table.updated, deleted: table.deleted)
        }
    }

    package mutating func add(_ change: PlannedChange) {
        // Changed in place: taking the table out and putting it back would copy its changes each time.
        tables[change.table, default: Table()].add(change, limit: limit)
    }

    package static func differences(
        _ old: PlannedChange.Values, _ new: PlannedChange.Values
    ) -> [(column: String, old: StoredValue, new: StoredValue)] {
        zip(old, new).filter { $0.value != $1.value }.map { ($0.column, $0.value, $1.value) }
    }
}

/// Rows as text.
extension PlanReport {
    /// Returns the columns of a row with their values.
    package static func text(_ values: PlannedChange.Values) -> String {
        values.map { "\($0.column) = \(literal($0.value))" }.joined(separator: ", ")
    }

    /// Returns the differences of two rows.
    package static func changes(_ old: PlannedChange.Values, _ new: PlannedChange.Values) -> String {
        differences(old, new).map { change in
            let (old, new) = (change.old.spelt(beside: change.new), change.new.spelt(beside: change.old))
            let start = commonStart(old, new)
            return "\(change.column) \(literal(old, from: start)) → \(literal(new, from: start))"
        }.joined(separator: ", ")
    }

    /// Returns the number of characters at the start of two long texts that are the same and need not be shown.
    private static func commonStart(_ old: StoredValue, _ new: StoredValue) -> Int {
        guard case .text(let old) = old, case .text(let new) = new else { return 0 }
        let common = zip(old, new).prefix { $0 == $1 }.count
        return common > 60 ? common - 20 : 0
    }

    /// Returns a value as it is shown; of a long text, 80 characters.
    package static func literal(_ value: StoredValue, from start: Int = 0) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text):
            "\"" + (start > 0 ? "…" : "")
                + text.dropFirst(start).prefix(80).replacing("\"", with: "\\\"")
                + (text.count > start + 80 ? "…" : "") + "\""
        case .blob(let data): Figures.count(data.count, "byte")
        }
    }
}

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
