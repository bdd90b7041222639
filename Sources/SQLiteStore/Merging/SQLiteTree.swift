import FeedModel
import FeedStaging
import GRDB
import FeedStores

/// Trees of elements.
extension SQLiteMergeDriver {
    /// Copies the store's rows into a table with an index of every column, so that one look-up finds each staged row.
    func beginTree(_ table: StagingTable, _ stored: StoredTable) throws -> String {
        let columns = table.allColumns
        let names = columns.map(\.name.sqlIdentifier).joined(separator: ", ")
        let definitions = columns.map { "\($0.name.sqlIdentifier) \($0.type)" }.joined(separator: ", ")
        let copy = "\(stack.schema).tributary_stored"
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS \(copy);
                CREATE TABLE \(copy) (tributary_id, \(definitions));
                INSERT INTO \(copy) SELECT \(table.table.primaryKey[0].sqlIdentifier), \(names) FROM \(stored.sql);
                CREATE INDEX \(copy)_values ON tributary_stored (\(names))
                """)
        return copy
    }

    func endTree(_ index: String) throws { try db.execute(sql: "DROP TABLE \(index)") }

    func matchTree(_ tree: Tree, _ level: Int, with index: String, where condition: String) throws {
        let table = tree.table
        try execute(
            SQLText(
                """
                INSERT INTO \(tree.name) SELECT l.record, min(m.tributary_id)
                FROM \(tree.levels) l CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = l.row
                CROSS JOIN \(index) m ON \(table.isSameRow("s", "m"))
                WHERE l.level = \(level) AND l.record NOT IN (SELECT record FROM \(tree.name)) AND \(condition)
                GROUP BY l.record
                """
            ).once)
    }

    func insertTree(_ tree: Tree, _ level: Int, noting index: String, in merge: MergeContext) throws -> Int {
        let table = tree.table
        let stored = try merge.table(of: table)
        let rowID = table.table.rowID ?? "rowid"
        let identity = table.identityColumns.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
        let new = try tree.newRows(level, identity: identity)
        guard new.count > 0 else { return 0 }
        let last = try db.int64("SELECT max(\(rowID)) FROM \(table.qualifiedTable)") ?? 0
        let inserted = try insert(
            Insertion(
                part: tree.part, table: stored, count: new.count,
                rows: "\(new.name) d CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = d.row",
                order: "d.id"),
            in: merge)
        try execute(
            """
            INSERT OR IGNORE INTO \(tree.name) SELECT s.\(StagingTable.record), m.\(tree.key)
            FROM \(table.qualifiedTable) m CROSS JOIN \(table.qualifiedName) s ON \(table.isSameRow("s", "m"))
            WHERE m.\(rowID) > \(bind: last) AND \(table.hasParents)
            """)
        return inserted
    }
}
