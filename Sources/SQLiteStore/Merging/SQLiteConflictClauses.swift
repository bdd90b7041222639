import FeedModel
import FeedStaging
import FeedStores
import GRDB
import Merging
import StoreSQL

/// The effects of a table's conflict clause (`ON CONFLICT REPLACE`, `ON CONFLICT IGNORE`), or of a user's trigger
/// that calls `RAISE(IGNORE)`.
extension SQLiteMergeDriver {
    /// Deletes the rows of the store that a statement would replace, as SQLite would, and logs and counts them.
    ///
    /// The statement itself shows these rows, in a savepoint that is rolled back. Only tables with a conflict clause
    /// and conflicting rows pay for it.
    ///
    /// - Parameters:
    ///   - rows: the FROM clause of the rows that the statement writes, the staged ones as `s`, without an order.
    ///   - write: runs the statement, and nothing else.
    func deleteReplaced(
        by part: StagedStack.Part, _ stored: any StoredTable, from rows: String, in merge: MergeContext,
        _ write: () throws -> Void
    ) throws {
        let table = part.table
        guard table.table.hasConflictClause, let conflicting = try conflictingRows(with: table, stored, rows, in: merge)
        else { return }
        let key = table.keyColumns.enumerated().map { "m.\($1.sqlIdentifier) IS g.i\($0) COLLATE BINARY" }
        let isThere = ([conflicting.isRow("m", "g")] + key).joinedConditions("AND")
        var replaced: [Int64] = []
        try db.inSavepoint {
            try write()
            replaced = try db.all(
                """
                SELECT g.id FROM \(conflicting.name) g
                WHERE NOT EXISTS (SELECT 1 FROM \(stored.sql) m WHERE \(isThere))
                """
            ) { try $0.int64(0) ?? 0 }
            return .rollback
        }
        guard !replaced.isEmpty else { return }
        let list = try merge.makeList("replaced", of: stored, .delete)
        let columns = list.located + ["key"]
        var count = 0
        for id in replaced {
            count += try execute(
                dialect.append(
                    to: list, columns, columns.joined(separator: ", "),
                    from: "\(conflicting.name) WHERE id = \(bind: id)", order: nil))
        }
        try merge.deleteReplaced(list, by: table, count: count)
    }

    /// Lists the rows of the store that have values of staged rows in columns that are unique; returns nil without
    /// one.
    private func conflictingRows(
        with table: StagingTable, _ stored: any StoredTable, _ rows: String, in merge: MergeContext
    ) throws -> RowList? {
        let info = table.table
        let identity = table.keyColumns.indices.map { "i\($0)" }
        let list = try merge.makeList("conflicting", of: stored, .delete, isUnique: false, adding: identity)
        let unique =
            info.uniqueIndexes + (info.generatedKey.map { [[(name: $0, collation: "BINARY")]] } ?? [])
        let isOther = table.keyColumns.isEmpty ? "" : " WHERE NOT (\(table.matches("m", "s")))"
        let key = table.keyColumns.map { ", m." + $0.sqlIdentifier }.joined()
        var found = 0
        for index in unique where index.allSatisfy({ table.supplies($0.name) }) {
            let isEqual = index.map { column in
                "m.\(column.name.sqlIdentifier) = s.\(column.name.sqlIdentifier) COLLATE \(column.collation)"
            }
            found += try execute(
                dialect.append(
                    to: list, list.located + ["key"] + identity,
                    "\(stored.locators("m")), \(merge.changelogKey(of: stored, "m"))\(key)",
                    from: """
                        (SELECT s.* FROM \(rows)) s CROSS JOIN \(stored.sql) m ON \(isEqual.joinedConditions("AND"))\(isOther)
                        """, order: nil))
        }
        return found > 0 ? list : nil
    }
}
