import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// Trees of elements: rows that refer to rows of their own table by record numbers, with primary keys that the store
/// generates. Only the whole row, including that reference, tells them apart. The row of a record depends on its
/// parent's row, so rows are found and written level by level, each level once.
extension Merge {
    /// Orders a tree's rows by level, and finds those that the store already has.
    func prepareTree(_ part: StagedStack.Part) throws {
        let table = part.table
        try forgetMissingParents(of: table)
        let parent = table.ownReferences[0].lookups[0].staged.sqlIdentifier
        let edges = try workTable(
            "edge_\(table.name)", "parent bigint, row bigint, record bigint, PRIMARY KEY (parent, row)")
        try connection.execute(
            """
            INSERT INTO \(edges)
            SELECT coalesce(p.\(StagingTable.record), 0), s.\(StagingTable.row), s.\(StagingTable.record)
            FROM \(table.staged) s LEFT JOIN \(table.staged) p ON p.\(StagingTable.record) = s.\(parent)
            """)
        try connection.execute("ANALYZE \(edges)")
        let levels = try workTable(
            "level_\(table.name)", "level integer, row bigint, record bigint, PRIMARY KEY (level, row)")
        try connection.execute(
            """
            WITH RECURSIVE tree (level, row, record) AS (
                SELECT 0, row, record FROM \(edges) WHERE parent = 0
                UNION ALL
                SELECT level + 1, e.row, e.record FROM tree JOIN \(edges) e ON e.parent = tree.record)
            INSERT INTO \(levels) SELECT level, row, record FROM tree
            """)
        try connection.execute("ANALYZE \(levels)")
        _ = try workTable("tree_\(table.name)", "record bigint PRIMARY KEY, id \(keyDefinition(of: table))")
        let stored = try noteStoredRows(of: table)
        for level in 0...(try lastLevel(of: table)) {
            try resolveParents(of: table, level)
            // Other referenced rows may come with the same stack: then this row is a new one.
            try match(table, level, with: stored, where: table.hasValues(of: table.references))
        }
    }

    /// Inserts the rows of a tree that the store lacks, parents before their children.
    func mergeTree(_ part: StagedStack.Part) throws -> MergeCounts {
        let table = part.table
        let stored = try noteStoredRows(of: table)
        var counts = MergeCounts()
        for level in 0...(try lastLevel(of: table)) {
            try resolveParents(of: table, level)
            try match(table, level, with: stored, where: hasParents(table))
            guard let new = try newRows(of: table, level) else { continue }
            counts.inserted += try insert(new, of: table, noting: stored)
            try match(table, level, with: stored, where: hasParents(table))
        }
        let distinct = try connection.execute("SELECT count(DISTINCT id) FROM \(tree(table))")[0].int(0) ?? 0
        part.counts.replaced = part.counts.rows - distinct
        if let gone = try goneColumn(of: table) {
            counts.inserted += try takeBack(
                table, gone, from: "\(try self.stored(table)) m JOIN \(tree(table)) t ON t.id = m.\(key(of: table))")
        }
        counts.unchanged = distinct - counts.inserted
        progress.changes.add(counts, of: part)
        return counts
    }

    /// The primary keys under which a tree's records are in the store, as `record` and `id`.
    func tree(_ table: StagingTable) -> String { nameOfWorkTable("tree_\(table.name)") }

    /// Returns a condition that a staged row `s` of a tree has its parent's key, or no parent. A row without the key of
    /// its parent is not in the store.
    func hasParents(_ table: StagingTable) -> String { table.hasValues(of: table.ownReferences) }

    private func levels(_ table: StagingTable) -> String { nameOfWorkTable("level_\(table.name)") }

    private func key(of table: StagingTable) -> String { table.table.primaryKey[0].sqlIdentifier }

    private func keyDefinition(of table: StagingTable) throws -> String {
        try details(of: table.table.name).needed(table.table.primaryKey[0]).definition
    }

    private func lastLevel(of table: StagingTable) throws -> Int {
        try connection.execute("SELECT coalesce(max(level), 0) FROM \(levels(table))")[0].int(0) ?? 0
    }

    /// Clears references to parents that the mapping has dropped, where the reference may be missing.
    private func forgetMissingParents(of table: StagingTable) throws {
        for reference in table.ownReferences where reference.missing == .null {
            let staged = reference.lookups[0].staged.sqlIdentifier
            try connection.execute(
                """
                UPDATE \(table.staged) AS s SET \(staged) = NULL WHERE s.\(staged) IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM \(table.staged) p WHERE p.\(StagingTable.record) = s.\(staged))
                """)
        }
    }

    /// Returns a table of the store's rows, by their hashes and with an index of these, so that a level's rows are
    /// found without reading all of the store's once more.
    private func noteStoredRows(of table: StagingTable) throws -> String {
        let stored = try workTable(
            "stored_\(table.name)", "hash bigint, id \(keyDefinition(of: table)), PRIMARY KEY (hash, id)")
        try connection.execute(
            "INSERT INTO \(stored) SELECT \(try rowHash(table, "m")), m.\(key(of: table)) FROM \(try self.stored(table)) m"
        )
        try connection.execute("ANALYZE \(stored)")
        return stored
    }

    /// Notes which records of a level the store has.
    private func match(_ table: StagingTable, _ level: Int, with stored: String, where condition: String) throws {
        let key = key(of: table)
        try connection.execute(
            """
            INSERT INTO \(tree(table)) SELECT DISTINCT ON (l.record) l.record, m.\(key)
            FROM \(levels(table)) l JOIN \(table.staged) s ON s.\(StagingTable.row) = l.row
            JOIN \(stored) h ON h.hash = \(rowHash(table, "s"))
            JOIN \(try self.stored(table)) m ON m.\(key) = h.id AND \(isSameRow(table, "s", "m"))
            WHERE l.level = \(level) AND NOT EXISTS (SELECT 1 FROM \(tree(table)) t WHERE t.record = l.record)
                AND \(condition)
            ORDER BY l.record, m.\(key)
            """)
    }

    /// Sets the parents' keys in the rows of a level, as far as the parents are in the store.
    private func resolveParents(of table: StagingTable, _ level: Int) throws {
        for reference in table.ownReferences {
            let column = reference.column.name.sqlIdentifier
            try connection.execute(
                """
                UPDATE \(table.staged) AS s SET \(column) = t.id FROM \(levels(table)) l, \(tree(table)) t
                WHERE l.level = \(level) AND s.\(StagingTable.row) = l.row AND s.\(column) IS NULL
                    AND t.record = s.\(reference.lookups[0].staged.sqlIdentifier)
                """)
        }
    }

    /// Returns a query for the rows of a level that the store lacks, each once; nil where there are none.
    private func newRows(of table: StagingTable, _ level: Int) throws -> String? {
        let new = try workTable("new", "row bigint PRIMARY KEY")
        let details = try details(of: table.table.name)
        let identity = try table.allColumns.map { try details.needed($0.name).exact("s") }.joined(separator: ", ")
        let inserted = try connection.execute(
            """
            INSERT INTO \(new) SELECT max(s.\(StagingTable.row))
            FROM \(levels(table)) l JOIN \(table.staged) s ON s.\(StagingTable.row) = l.row
            WHERE l.level = \(level) AND NOT EXISTS (SELECT 1 FROM \(tree(table)) t WHERE t.record = l.record)
            GROUP BY \(identity)
            """)
        guard inserted.affectedRows > 0 else { return nil }
        let values = table.allColumns.map { "s." + $0.name.sqlIdentifier }.joined(separator: ", ")
        return """
            SELECT \(values) FROM \(new) d JOIN \(table.staged) s ON s.\(StagingTable.row) = d.row ORDER BY d.row
            """
    }

    /// Inserts a level's rows, and notes them beside the store's other rows.
    private func insert(_ rows: String, of table: StagingTable, noting stored: String) throws -> Int {
        try tell(table, .insert, sql: rows)
        let names = table.allColumns.map(\.name.sqlIdentifier).joined(separator: ", ")
        let journalKey = try journalKey(of: table, details(of: table.table.name), "m")
        return try makingRoom(in: table) {
            let noting = try noting(details(of: table.table.name))
            return try connection.execute(
                """
                WITH changed AS (
                    INSERT INTO \(try self.stored(table)) AS m (\(names)) \(rows)
                    RETURNING m.\(key(of: table)) AS id, \(try rowHash(table, "m")) AS hash, \(journalKey) AS key\(noting?.returning ?? "")
                )\(noting?.statement ?? ""), change AS (
                    INSERT INTO tributary_change (run, "table", key, operation)
                    SELECT \(run), \(table.table.name.postgresLiteral), key, 'insert' FROM changed)
                INSERT INTO \(stored) (hash, id) SELECT hash, id FROM changed
                """
            ).affectedRows
        }
    }
}

extension StagingTable {
    /// Returns a condition that a staged row `s` has what these references refer to, or refers to nothing.
    fileprivate func hasValues(of references: [StagedReference]) -> String {
        references.map {
            "(s.\($0.column.name.sqlIdentifier) IS NOT NULL OR s.\($0.lookups[0].staged.sqlIdentifier) IS NULL)"
        }.joined(separator: " AND ")
    }
}
