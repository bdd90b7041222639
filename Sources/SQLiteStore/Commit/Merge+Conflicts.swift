import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// What a conflict clause of the table (`ON CONFLICT REPLACE`, `ON CONFLICT IGNORE`), or a user's trigger that calls
/// `RAISE(IGNORE)`, makes of a statement.
extension Merge {
    /// Deletes the rows of the store that a statement would replace, as SQLite would, and journals and counts them.
    ///
    /// Which rows these are, the statement itself tells, in a savepoint that is rolled back. Only tables with a conflict
    /// clause some of whose rows are in the way pay for it.
    ///
    /// - Parameters:
    ///   - rows: the FROM clause of the rows that the statement writes, the staged ones as `s`, without an order.
    ///   - write: runs the statement, and nothing else.
    func deleteReplaced(by part: StagedStack.Part, from rows: String, _ write: () throws -> Void) throws {
        let table = part.table
        guard table.table.hasConflictClause, let inTheWay = try rowsInTheWay(of: table, rows) else { return }
        let key = table.keyColumns.enumerated().map { "m.\($1.sqlIdentifier) IS g.i\($0) COLLATE BINARY" }
        let isThere = ([inTheWay.isRow("m", "g")] + key).joinedConditions("AND")
        var replaced: [[DatabaseValue]] = []
        try db.inSavepoint {
            try write()
            let gone = try Row.fetchCursor(
                db,
                sql: """
                    SELECT \(inTheWay.located.map { "g." + $0 }.joined(separator: ", ")) FROM \(inTheWay.name) g
                    WHERE NOT EXISTS (SELECT 1 FROM \(table.qualifiedTable) m WHERE \(isThere))
                    """)
            while let row = try gone.next() { replaced.append(Array(row.databaseValues)) }
            return .rollback
        }
        guard !replaced.isEmpty else { return }
        let located = inTheWay.located.joined(separator: ", ")
        let rows = ChangedRows(
            table: table.table, change: .delete,
            name: try workTable(
                "replaced_\(inTheWay.located.count)", "\(located), key, PRIMARY KEY (\(located))"))
        let isRow = inTheWay.located.map { "\($0) IS ?" }.joinedConditions("AND")
        for values in replaced {
            try db.execute(
                cached:
                    "INSERT OR IGNORE INTO \(rows.name) SELECT \(located), key FROM \(inTheWay.name) WHERE \(isRow)",
                StatementArguments(values))
        }
        progress.changes.add(
            deleted: replaced.count, of: ScopedRows(table: table.table.name, scope: table.scope))
        try deleteLate(rows)
    }

    /// Lists the rows of the store that have values of staged rows in columns that are unique; returns nil where there
    /// are none.
    private func rowsInTheWay(of table: StagingTable, _ rows: String) throws -> ChangedRows? {
        let info = table.table
        let identity = table.keyColumns.indices.map { "i\($0)" }
        let columns = (ChangedRows.located(info) + ["key"] + identity).joined(separator: ", ")
        let list = ChangedRows(
            table: info, change: .delete,
            name: try workTable("in_the_way_\(info.locator.count)_\(identity.count)", columns))
        let unique =
            info.uniqueIndexes + (info.generatedKey.map { [[(name: $0, collation: "BINARY")]] } ?? [])
        let isOther = table.keyColumns.isEmpty ? "" : " WHERE NOT (\(table.matches("m", "s")))"
        let values =
            info.locator.map { "m." + $0 } + [info.journalKey("m", among: stack)]
            + table.keyColumns.map { "m." + $0.sqlIdentifier }
        var found = 0
        for index in unique where index.allSatisfy({ table.supplies($0.name) }) {
            let isEqual = index.map { column in
                "m.\(column.name.sqlIdentifier) = s.\(column.name.sqlIdentifier) COLLATE \(column.collation)"
            }
            try db.execute(
                cached: """
                    INSERT INTO \(list.name) SELECT \(values.joined(separator: ", ")) FROM (SELECT s.* FROM \(rows)) s
                    CROSS JOIN \(table.qualifiedTable) m ON \(isEqual.joinedConditions("AND"))\(isOther)
                    """)
            found += db.changesCount
        }
        return found > 0 ? list : nil
    }

    /// Takes rows that an update has left as they were out of the journal.
    ///
    /// - Parameter last: the last entry of the journal before the update's.
    func forgetUnwritten(_ difference: Difference, after last: Int64) throws {
        let table = difference.table
        let differs = difference.updatedColumns.map(\.sqlIdentifier).map { "s.\($0) IS NOT m.\($0) COLLATE BINARY" }
        let isBack = goneColumn(of: table.table.name).map { ["m.\($0) IS NOT NULL"] } ?? []
        try db.execute(
            sql: """
                DELETE FROM main.tributary_change WHERE id > ? AND "table" = ? AND key IN (
                    SELECT \(table.journalKey("m")) FROM \(difference.rows)
                    CROSS JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s"))
                    WHERE NOT d.is_new AND (\((differs + isBack).joinedConditions("OR"))))
                """, arguments: [last, table.table.name])
    }
}
