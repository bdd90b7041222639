import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Rows that are marked as gone instead of being deleted (`deleted` in `sources.toml`).
///
/// A row that is marked counts and is journaled as deleted. One that the feed has again counts and is journaled as
/// inserted, and gets the feed's values in the same statement.
extension Merge {
    /// Returns the column that marks a table's rows as gone, as SQL names it; nil where they are deleted.
    func goneColumn(of table: String) -> String? { retention.goneColumn(of: table)?.sqlIdentifier }

    /// Marks rows as gone, and journals them.
    func mark(_ missing: ChangedRows, as gone: String) throws -> MergeCounts {
        _ = try tellTaken([missing])
        try keep(missing)
        try setGone(gone, to: "?", of: missing, [retention.timeText])
        let marked = db.changesCount
        let all = try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM \(missing.name)")) ?? 0
        // A trigger may have kept some from being marked.
        let isMarked = """
             CROSS JOIN main.\(missing.table.name.sqlIdentifier) m ON \(missing.isRow("m", "g")) AND m.\(gone) IS NOT NULL
            """
        try writeJournal(
            missing.table.name, key: "g.key", operation: "delete",
            from: "\(missing.name) g\(marked == all ? "" : isMarked) ORDER BY g.rowid")
        return MergeCounts(deleted: marked)
    }

    /// Clears the marks of rows that are staged, where rows are compared whole.
    ///
    /// - Returns: their number.
    func takeBackWholeRows(_ table: StagingTable) throws -> Int {
        guard case .row = table.identity, let gone = goneColumn(of: table.table.name) else { return 0 }
        if table.isIdentifiedByManyColumns {
            return try takeBack(
                table, gone, where: "m.\(table.table.locator[0]) IN (\(table.rowsThatAreInBoth("stored")))")
        }
        return try takeBack(
            table, gone, where: "EXISTS (SELECT 1 FROM \(table.qualifiedName) s WHERE \(table.isSameRow("s", "m")))")
    }

    /// Clears the marks of rows of the store, `m`.
    ///
    /// - Returns: their number.
    func takeBack(_ table: StagingTable, _ gone: String, where condition: String) throws -> Int {
        let located = ChangedRows.located(table.table)
        let back = ChangedRows(
            table: table.table, change: .update,
            name: try workTable("back_\(located.count)", "\(located.joined(separator: ", ")), key"))
        try db.execute(
            cached: """
                INSERT INTO \(back.name)
                SELECT \(table.table.locator.map { "m." + $0 }.joined(separator: ", ")), \(table.table.journalKey("m", among: stack))
                FROM \(table.qualifiedTable) m WHERE m.\(gone) IS NOT NULL AND \(condition)
                """)
        let count = db.changesCount
        guard count > 0 else { return 0 }
        let values = table.allColumns.map { "m." + $0.name.sqlIdentifier }.joined(separator: ", ")
        try tell(
            table, .insert,
            sql: """
                SELECT \(values) FROM \(back.name) g CROSS JOIN \(table.qualifiedTable) m ON \(back.isRow("m", "g"))
                ORDER BY g.rowid
                """)
        try keep(back)
        try setGone(gone, to: "NULL", of: back)
        try writeJournal(
            table.table.name, key: "g.key", operation: "insert", from: "\(back.name) g ORDER BY g.rowid")
        return count
    }

    private func setGone(
        _ gone: String, to value: String, of rows: ChangedRows, _ arguments: StatementArguments = []
    ) throws {
        try db.execute(
            cached: """
                UPDATE main.\(rows.table.name.sqlIdentifier) SET \(gone) = \(value)
                WHERE (\(rows.table.locator.joined(separator: ", "))) IN (
                    SELECT \(rows.located.joined(separator: ", ")) FROM \(rows.name))
                """, arguments)
    }
}
