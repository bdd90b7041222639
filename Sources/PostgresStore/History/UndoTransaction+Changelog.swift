import FeedModel
import FeedStores
import PostgresClient

/// What the changelog says of an undo.
extension UndoTransaction {
    /// Makes the changelog say of a table's rows what it would say of a commit.
    func correctChangelog(of shape: HistoryShape, _ run: RecordedRun, _ counts: inout MergeCounts) throws {
        let table = shape.table
        let mark = undo.changelog.mark(of: table.name).flatMap(table.column)?.name
        let merged = shape.keyColumns
        let key = undo.changelog.key(of: table.name, among: shape.columns, merged: merged)
        guard mark.map(shape.columns.contains) ?? false || key != merged else { return }
        let written = """
            run = \(run.id) AND id >= \(run.firstChange ?? 0) AND "table" = \(table.name.postgresLiteral)
            """
        counts -= try changes(where: written)
        try connection.execute("DELETE FROM tributary_change WHERE \(written)")
        let changes = UndoChangelog.changes(
            of: shape, run: run.id, mark: mark?.postgresIdentifier, isFound: "m.tableoid IS NOT NULL",
            isDistinct: "IS DISTINCT FROM"
        ) { table.journalKey(key, $0) }
        try connection.execute(
            """
            INSERT INTO tributary_change (run, "table", key, operation)
            SELECT \(run.id), \(table.name.postgresLiteral), key, operation FROM (\(changes)) c
            """)
        counts += try self.changes(where: written)
    }

    private func changes(where condition: String) throws -> MergeCounts {
        let rows = try connection.execute(
            "SELECT operation, count(*) FROM tributary_change WHERE \(condition) GROUP BY 1")
        return MergeCounts(changes: try rows.map { ($0.string(0) ?? "", try $0.int(1) ?? 0) })
    }
}
