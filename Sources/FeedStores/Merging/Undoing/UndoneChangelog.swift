import FeedModel
import FeedStaging

/// The changelog of an undo: the entries of a commit of the source that changes the same rows.
struct UndoneChangelog {
    let undo: Undo
    let driver: any MergeDriver
    let run: Int64
    /// The last id of the changelog before the undo.
    let lastChange: Int64

    /// Rewrites the entries of a table if the source marks rows as deleted, or uses another key than the merge.
    func correct(_ table: HistoryShape, _ counts: inout MergeCounts) throws {
        let stored = table.stored
        let mark = undo.mark(of: stored.name).flatMap(stored.column)
        let merged = try table.mergeKey()
        let key = undo.changelogKey(of: stored.name, among: table.columns, merged: merged)
        guard mark.map({ table.columns.contains($0.name) }) ?? false || key != merged else { return }
        let dialect = driver.dialect
        let written: SQLText = """
            run = \(bind: run) AND id > \(bind: lastChange) AND "table" = \(dialect.literal(stored.name))
            """
        counts -= try changes(where: written)
        try driver.execute("DELETE FROM \(dialect.changelog) WHERE \(written)")
        let changes = changes(of: table, mark: mark?.sql) { dialect.changelogKey(key, of: stored, $0) }
        try driver.execute(
            """
            INSERT INTO \(dialect.changelog) (run, "table", key, operation)
            SELECT \(bind: run), \(dialect.literal(stored.name)), key, operation FROM (\(changes)) c
            """)
        counts += try self.changes(where: written)
    }

    private func changes(where condition: SQLText) throws -> MergeCounts {
        let sql: SQLText = "SELECT operation, count(*) FROM \(driver.dialect.changelog) WHERE \(condition) GROUP BY 1"
        return MergeCounts(changes: try driver.all(sql) { ($0.string(0) ?? "", try $0.int(1) ?? 0) })
    }

    /// Selects the run's changes of a table from the table's history, as `key` and `operation`.
    ///
    /// - Parameters:
    ///   - mark: the column that marks the table's rows, as SQL names it.
    ///   - key: returns an expression for the key of a row in the form of the changelog.
    private func changes(of table: HistoryShape, mark: String?, key: (String) -> String) -> String {
        func isUnmarked(_ row: String) -> String { mark.map { " AND \(row).\($0) IS NULL" } ?? "" }
        let was = "(h.\(HistoryTable.operation) <> 'insert'\(isUnmarked("h")))"
        let isThere = "(\(table.stored.isThere("m"))\(isUnmarked("m")))"
        // The place of a row may be another row's by now.
        let isOther = driver.dialect.isDistinct(key("h"), from: key("m"))
        let rows = """
            FROM \(table.sql) h LEFT JOIN \(table.stored.sql) m
                ON h.\(HistoryTable.operation) <> 'delete' AND \(table.isRow("m", "h"))
            WHERE h.\(HistoryTable.run) = \(run)
            """
        return """
            SELECT key, operation FROM (
                SELECT h.\(HistoryTable.id) AS id, \(key("h")) AS key, 'delete' AS operation
                \(rows) AND \(was) AND (NOT \(isThere) OR \(isOther))
                UNION ALL
                SELECT h.\(HistoryTable.id), \(key("m")), CASE WHEN NOT \(was) OR \(isOther) THEN 'insert' ELSE 'update' END
                \(rows) AND \(isThere)
            ) changes ORDER BY operation <> 'delete', id
            """
    }
}
