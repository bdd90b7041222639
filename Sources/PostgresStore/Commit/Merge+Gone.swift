import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// Rows that are marked as gone instead of being deleted (`deleted` in `sources.toml`).
///
/// A row that is marked counts and is journaled as deleted. One that the feed has again counts and is journaled as
/// inserted, and gets the feed's values in the same statement.
extension Merge {
    /// Returns the column that marks a table's rows as gone, as SQL names it; nil where they are deleted.
    func goneColumn(of table: TableDetails) throws -> String? {
        guard let gone = retention.goneColumn(of: table.name) else { return nil }
        try retention.check(table.info, has: gone)
        return try table.needed(gone).sql
    }

    func goneColumn(of table: StagingTable) throws -> String? {
        try retention.goneColumns.isEmpty ? nil : goneColumn(of: details(of: table.table.name))
    }

    /// Marks rows as gone, and journals them.
    func mark(_ missing: ChangedRows, as gone: String) throws -> MergeCounts {
        _ = try tellTaken([missing])
        try keep(missing)
        let statement = """
            UPDATE \(missing.table.sql) AS m SET \(gone) = \(retention.timeText.postgresLiteral) FROM \(missing.name) g
            WHERE \(missing.isRow("m", "g")) RETURNING g.key, g.id
            """
        return MergeCounts(deleted: try journaled(statement, missing.table.name, "delete", order: "id"))
    }

    /// Clears the marks of rows that are staged, where rows are compared whole.
    ///
    /// - Returns: their number.
    func takeBackWholeRows(_ table: StagingTable) throws -> Int {
        guard case .row = table.identity, let gone = try goneColumn(of: table) else { return 0 }
        return try takeBack(
            table, gone,
            from: "\(try stored(table)) m JOIN \(table.staged) s ON \(try isSameRow(table, "m", "s"))")
    }

    /// Clears the marks of rows of the store.
    ///
    /// - Parameter rows: the FROM clause, with the store's rows as `m`.
    /// - Returns: their number.
    func takeBack(_ table: StagingTable, _ gone: String, from rows: String) throws -> Int {
        let details = try details(of: table.table.name)
        let back = ChangedRows(
            table: details, change: .update,
            name: try workTable("back_\(progress.number())", ChangedRows.definition(details, isUnique: true)))
        let found = try connection.execute(
            """
            INSERT INTO \(back.name) (\(back.located.joined(separator: ", ")), key)
            SELECT \(details.locator.map { "m." + $0.sql }.joined(separator: ", ")), \(journalKey(of: details, "m"))
            FROM \(rows) WHERE m.\(gone) IS NOT NULL ON CONFLICT DO NOTHING
            """
        ).affectedRows
        guard found > 0 else { return 0 }
        let values = table.allColumns.map { "m." + $0.name.sqlIdentifier }.joined(separator: ", ")
        try tell(
            table, .insert,
            sql: "SELECT \(values) FROM \(back.name) g JOIN \(details.sql) m ON \(back.isRow("m", "g")) ORDER BY g.id")
        try keep(back)
        return try journaled(
            """
            UPDATE \(details.sql) AS m SET \(gone) = NULL FROM \(back.name) g WHERE \(back.isRow("m", "g"))
            RETURNING g.key, g.id
            """, table.table.name, "insert", order: "id")
    }
}
