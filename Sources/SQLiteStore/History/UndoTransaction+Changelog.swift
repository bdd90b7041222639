import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// What the changelog says of an undo.
extension UndoTransaction {
    /// Makes the changelog say of a table's rows what it would say of a commit.
    func correctChangelog(
        of shape: HistoryShape, run: Int64, after lastChange: Int64, _ counts: inout MergeCounts
    ) throws {
        let table = shape.table
        let mark = undo.changelog.mark(of: table.name).flatMap(table.column)?.name
        let merged = try shape.mergeKey()
        let key = undo.changelog.key(of: table.name, among: shape.columns, merged: merged)
        guard mark.map(shape.columns.contains) ?? false || key != merged else { return }
        let written = "run = \(run) AND id > \(lastChange) AND \"table\" = \(table.name.sqlLiteral)"
        counts -= try changes(where: written)
        try db.execute(sql: "DELETE FROM main.tributary_change WHERE \(written)")
        let changes = UndoChangelog.changes(
            of: shape, run: run, mark: mark?.sqlIdentifier, isFound: shape.isThere("m"), isDistinct: "IS NOT"
        ) { journalKeySQL(key, $0) }
        try db.execute(
            sql: """
                INSERT INTO main.tributary_change (run, "table", key, operation)
                SELECT \(run), \(table.name.sqlLiteral), key, operation FROM (\(changes))
                """)
        counts += try self.changes(where: written)
    }

    private func changes(where condition: String) throws -> MergeCounts {
        let rows = try Row.fetchAll(
            db, sql: "SELECT operation, count(*) FROM main.tributary_change WHERE \(condition) GROUP BY 1")
        return MergeCounts(changes: rows.map { ($0[0], $0[1]) })
    }
}
