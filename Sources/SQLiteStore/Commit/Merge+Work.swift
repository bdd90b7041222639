import FeedStaging
import GRDB

/// The merge's own tables, and the journal.
extension Merge {
    /// Returns the table of the rows that a difference updates, by their current row ids.
    func changedRows(_ difference: Difference) throws -> String {
        let changed = try workTable(
            "changed" + difference.suffix, "target INTEGER PRIMARY KEY, row INTEGER NOT NULL")
        try db.execute(
            cached:
                "INSERT INTO \(changed) SELECT target, row FROM \(difference.name) WHERE NOT is_new ORDER BY target")
        return changed
    }

    /// Returns an empty table beside the staged rows, which is created where none of this name exists.
    func workTable(_ name: String, _ columns: String) throws -> String {
        let table = "\(stack.schema).tributary_\(name)"
        if stack.path != nil || !memory.hasWorkTable(name) {
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(table) (\(columns))")
        }
        try db.execute(cached: "DELETE FROM \(table)")
        return table
    }

    func writeJournal(
        _ table: String, key: String, operation: String, from rows: String, _ arguments: StatementArguments = []
    ) throws {
        try db.execute(
            cached: """
                INSERT INTO main.tributary_change (run, "table", key, operation)
                SELECT ?, \(table.sqlLiteral), \(key), \(operation.sqlLiteral) FROM \(rows)
                """, [run] + arguments)
    }
}
