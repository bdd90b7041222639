import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Trees of elements: rows that refer to rows of their own table by record numbers, with primary keys that the store
/// generates. Only the whole row, including that reference, tells them apart. The row of a record depends on its
/// parent's row, so rows are found and written level by level, each level once.
extension Merge {
    /// Orders a tree's rows by level, and finds those that the store already has.
    func prepareTree(_ part: StagedStack.Part) throws {
        let table = part.table
        try forgetMissingParents(of: table)
        let edges = try workTable(
            "edge_\(table.name)", "parent INTEGER, row INTEGER, record INTEGER, PRIMARY KEY (parent, row)")
        let parent = parentNumber(of: table)
        try db.execute(
            cached: """
                INSERT INTO \(edges) SELECT
                    CASE WHEN \(parent) IN (SELECT \(StagingTable.record) FROM \(table.qualifiedName)) THEN \(parent) ELSE 0 END,
                    \(StagingTable.row), \(StagingTable.record) FROM \(table.qualifiedName)
                """)
        let levels = try workTable(
            "level_\(table.name)", "level INTEGER, row INTEGER, record INTEGER, PRIMARY KEY (level, row)")
        try db.execute(
            cached: """
                WITH RECURSIVE tree (level, row, record) AS (
                    SELECT 0, row, record FROM \(edges) WHERE parent = 0
                    UNION ALL
                    SELECT level + 1, e.row, e.record FROM tree CROSS JOIN \(edges) e ON e.parent = tree.record)
                INSERT INTO \(levels) SELECT level, row, record FROM tree
                """)
        try makeTree(of: table)
        let stored = try copyStoredRows(of: table)
        for level in 0...(try lastLevel(of: table)) {
            try resolveParents(of: table, level)
            // Other referenced rows may come with the same stack: then this row is a new one.
            try match(table, level, with: stored, where: hasValues(of: table.references))
        }
        try db.execute(sql: "DROP TABLE \(stored)")
    }

    func makeTree(of table: StagingTable) throws {
        _ = try workTable("tree_\(table.name)", "record INTEGER PRIMARY KEY, id")
    }

    /// Inserts the rows of a tree that the store lacks, parents before their children.
    func mergeTree(_ part: StagedStack.Part) throws -> MergeCounts {
        let table = part.table
        let rowID = table.table.rowID ?? "rowid"
        let stored = try copyStoredRows(of: table)
        var counts = MergeCounts()
        for level in 0...(try lastLevel(of: table)) {
            try resolveParents(of: table, level)
            try match(table, level, with: stored, where: hasParents(table))
            let difference = try workTable("difference", Difference.columns)
            let identity = table.identityColumns.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
            try db.execute(
                cached: """
                    INSERT INTO \(difference) (row, is_new) SELECT max(s.\(StagingTable.row)) AS row, 1
                    FROM \(levels(table)) l CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = l.row
                    WHERE l.level = ? AND l.record NOT IN (SELECT record FROM \(tree(table)))
                    GROUP BY \(identity) ORDER BY row
                    """, [level])
            let new = db.changesCount
            guard new > 0 else { continue }
            let last = try db.cachedStatement(sql: "SELECT max(\(rowID)) FROM \(table.qualifiedTable)")
            let lastRow = try Int64.fetchOne(last) ?? 0
            let rows = "\(difference) d CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = d.row"
            counts.inserted += try insert(part, new, from: rows, order: "d.id")
            try db.execute(
                cached: """
                    INSERT OR IGNORE INTO \(tree(table)) SELECT s.\(StagingTable.record), m.\(key(of: table))
                    FROM \(table.qualifiedTable) m CROSS JOIN \(table.qualifiedName) s ON \(table.isSameRow("s", "m"))
                    WHERE m.\(rowID) > ? AND \(hasParents(table))
                    """, [lastRow])
        }
        try db.execute(sql: "DROP TABLE \(stored)")
        let ids = try db.cachedStatement(sql: "SELECT count(DISTINCT id) FROM \(tree(table))")
        let distinct = try Int.fetchOne(ids) ?? 0
        part.counts.replaced = part.counts.rows - distinct
        if let gone = goneColumn(of: table.table.name) {
            counts.inserted += try takeBack(
                table, gone, where: "m.\(key(of: table)) IN (SELECT id FROM \(tree(table)))")
        }
        counts.unchanged = distinct - counts.inserted
        progress.changes.add(counts, of: part)
        return counts
    }

    /// The primary keys under which a tree's records are in the store, as `record` and `id`.
    func tree(_ table: StagingTable) -> String { "\(stack.schema).tributary_tree_\(table.name)" }

    /// Returns a condition that a staged row `s` of a tree has its parent's key, or no parent. A row without the key of
    /// its parent is not in the store.
    func hasParents(_ table: StagingTable) -> String { hasValues(of: table.ownReferences) }

    private func hasValues(of references: [StagedReference]) -> String {
        references.map {
            "(s.\($0.column.name.sqlIdentifier) IS NOT NULL OR s.\($0.lookups[0].staged.sqlIdentifier) IS NULL)"
        }.joined(separator: " AND ")
    }

    private func levels(_ table: StagingTable) -> String { "\(stack.schema).tributary_level_\(table.name)" }

    private func key(of table: StagingTable) -> String { table.table.primaryKey[0].sqlIdentifier }

    private func parentNumber(of table: StagingTable) -> String {
        table.ownReferences[0].lookups[0].staged.sqlIdentifier
    }

    private func lastLevel(of table: StagingTable) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT max(level) FROM \(levels(table))")) ?? 0
    }

    /// Clears references to parents that the mapping has dropped, where the reference may be missing.
    private func forgetMissingParents(of table: StagingTable) throws {
        for reference in table.ownReferences where reference.missing == .null {
            let staged = reference.lookups[0].staged.sqlIdentifier
            try db.execute(
                cached: """
                    UPDATE \(table.qualifiedName) SET \(staged) = NULL
                    WHERE \(staged) NOT IN (SELECT \(StagingTable.record) FROM \(table.qualifiedName))
                    """)
        }
    }

    /// Copies the store's rows into a table with an index of every column, so that one look-up finds each staged row.
    private func copyStoredRows(of table: StagingTable) throws -> String {
        let columns = table.allColumns
        let names = columns.map(\.name.sqlIdentifier).joined(separator: ", ")
        let definitions = columns.map { "\($0.name.sqlIdentifier) \($0.declaredType)" }.joined(separator: ", ")
        let stored = "\(stack.schema).tributary_stored"
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS \(stored);
                CREATE TABLE \(stored) (tributary_id, \(definitions));
                INSERT INTO \(stored) SELECT \(key(of: table)), \(names) FROM \(table.qualifiedTable);
                CREATE INDEX \(stored)_values ON tributary_stored (\(names))
                """)
        return stored
    }

    /// Notes which records of a level the store has.
    private func match(_ table: StagingTable, _ level: Int, with stored: String, where condition: String) throws {
        try db.execute(
            sql: """
                INSERT INTO \(tree(table)) SELECT l.record, min(m.tributary_id)
                FROM \(levels(table)) l CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = l.row
                CROSS JOIN \(stored) m ON \(table.isSameRow("s", "m"))
                WHERE l.level = ? AND l.record NOT IN (SELECT record FROM \(tree(table))) AND \(condition)
                GROUP BY l.record
                """, arguments: [level])
    }

    /// Sets the parents' keys in the rows of a level, as far as the parents are in the store.
    private func resolveParents(of table: StagingTable, _ level: Int) throws {
        for reference in table.ownReferences {
            let column = reference.column.name.sqlIdentifier
            let staged = "s.\(reference.lookups[0].staged.sqlIdentifier)"
            try db.execute(
                cached: """
                    UPDATE \(table.qualifiedName) AS s SET \(column) = (
                        SELECT id FROM \(tree(table)) WHERE record = \(staged))
                    WHERE s.\(StagingTable.row) IN (SELECT row FROM \(levels(table)) WHERE level = ?)
                    AND s.\(column) IS NULL AND \(staged) IS NOT NULL
                    """, [level])
        }
    }
}
