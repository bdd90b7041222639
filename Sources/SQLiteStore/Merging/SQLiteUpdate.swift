import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Different rows.
extension SQLiteMergeDriver {
    func update(_ rows: Difference, of remaining: ArraySlice<Difference>, in merge: MergeContext) throws -> Int {
        let table = rows.table
        let lastChange = try db.lastChange()
        try logUpdate(of: rows, in: merge)
        if table.table.rowID == nil { try merge.indexForLookUps(rows.part) }
        let statement = try updateStatement(rows, mark: merge.deletionMark(of: rows.stored))
        let conflicts = UniqueConflicts(merge, in: table, of: rows.stored, remaining: remaining)
        let updated = try conflicts.resolving {
            try db.execute(cached: statement)
            return db.changesCount
        }
        if updated < rows.updated { try removeUnwritten(rows, in: merge, after: lastChange) }
        return updated
    }

    /// Writes the rows to the changelog. If the key column's collation equates different texts, the changelog gets the
    /// key as the store has it. It is read before a row id may change.
    private func logUpdate(of rows: Difference, in merge: MergeContext) throws {
        let isExact = rows.table.keyCollations.allSatisfy { $0.uppercased() == "BINARY" }
        let source = isExact ? rows.rows(dialect) : rows.storedRows(dialect)
        let key = rows.table.changelogKey(isExact ? "s" : "m")
        let isUpdated = rows.restored > 0 ? "NOT d.is_new AND NOT d.is_restored" : "NOT d.is_new"
        try merge.log("update", rows.stored.name, key: key, from: "\(source) WHERE \(isUpdated) ORDER BY d.id")
        guard rows.restored > 0 else { return }
        try merge.log("insert", rows.stored.name, key: key, from: "\(source) WHERE d.is_restored ORDER BY d.id")
    }

    private func updateStatement(_ rows: Difference, mark: String?) throws -> String {
        let table = rows.table
        let columns = rows.updatedColumns.map(\.sqlIdentifier)
        let names = columns + (mark.map { [$0] } ?? [])
        let values = columns.map { "s." + $0 } + (mark.map { _ in ["NULL"] } ?? [])
        let assignment = "SET (\(names.joined(separator: ", "))) = (SELECT \(values.joined(separator: ", "))"
        if let rowID = table.table.rowID {
            // By row id, and from a table that is keyed by it. Whatever statistics the planner has on the store's
            // table, it need not scan it.
            let changed = try changedRows(rows)
            return """
                UPDATE \(table.qualifiedTable) AS m \(assignment)
                    FROM \(changed) c CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = c.row
                    WHERE c.target = m.\(rowID))
                WHERE m.\(rowID) IN (SELECT target FROM \(changed))
                """
        }
        // Without row ids, and under the key's own collations, SQLite scans the table.
        let key = table.keyColumns.map(\.sqlIdentifier)
        return """
            UPDATE \(table.qualifiedTable) AS m \(assignment)
                FROM \(table.qualifiedName) s WHERE \(table.matches("s", "m")))
            WHERE (\(zip(key, table.keyCollations).map { "m.\($0) COLLATE \($1)" }.joined(separator: ", "))) IN (
                SELECT \(key.map { "s." + $0 }.joined(separator: ", ")) FROM \(rows.rows(dialect)) WHERE NOT d.is_new)
            """
    }

    /// Returns the table of the rows that a difference updates, by their row ids.
    private func changedRows(_ difference: Difference) throws -> String {
        let changed = try makeTable(
            "changed_\(difference.number)", "target INTEGER PRIMARY KEY, row INTEGER NOT NULL")
        try db.execute(
            cached:
                "INSERT INTO \(changed) SELECT target, row FROM \(difference.name) WHERE NOT is_new ORDER BY target")
        return changed
    }

    /// Takes rows that an update has left as they were out of the changelog.
    ///
    /// - Parameter last: the last entry of the changelog before the update's.
    private func removeUnwritten(_ rows: Difference, in merge: MergeContext, after last: Int64) throws {
        let table = rows.table
        let differs = rows.updatedColumns.map(\.sqlIdentifier).map { "s.\($0) IS NOT m.\($0) COLLATE BINARY" }
        let isMarked = try merge.deletionMark(of: rows.stored).map { ["m.\($0) IS NOT NULL"] } ?? []
        try execute(
            """
            DELETE FROM main.tributary_change WHERE id > \(bind: last) AND "table" = \(bind: rows.stored.name) AND key IN (
                SELECT \(table.changelogKey("m")) FROM \(rows.rows(dialect))
                CROSS JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s"))
                WHERE NOT d.is_new AND (\((differs + isMarked).joinedConditions("OR"))))
            """)
    }
}
