import FeedModel
package import FeedStaging

/// A tree of elements: rows that refer to rows of their own table, with primary keys that the store generates. Only
/// the whole row, including that reference, identifies them. A row depends on its parent's row, so rows are found and
/// written level by level.
package struct Tree {
    package let merge: MergeContext
    package let part: StagedStack.Part

    package var table: StagingTable { part.table }

    /// True if the records can be looked up.
    var isPrepared: Bool { merge.state.treeTables["tree_\(table.name)"] != nil }

    /// The work table of the primary keys under which the records are in the store, as `record` and `id`.
    package var name: String { merge.state.treeTables["tree_\(table.name)"] ?? "" }

    /// The work table of the levels: `level`, `row`, `record`.
    package var levels: String { merge.state.treeTables["level_\(table.name)"] ?? "" }

    /// The primary key, as SQL names it.
    package var key: String { table.table.primaryKey[0].sqlIdentifier }

    func makeTable() throws {
        let stored = try merge.table(of: table)
        let key = try stored.needed(table.table.primaryKey[0])
        try make("tree", "record \(merge.dialect.integer) PRIMARY KEY, id \(merge.dialect.definition(of: key))")
    }

    private func make(_ name: String, _ definition: String) throws {
        let name = "\(name)_\(table.name)"
        merge.state.treeTables[name] = try merge.driver.makeTable(name, definition)
    }

    /// Orders the rows by level, and finds those that the store already has.
    func prepare() throws {
        try forgetMissingParents()
        try findLevels()
        try makeTable()
        let stored = try merge.driver.beginTree(table, merge.table(of: table))
        for level in 0...(try lastLevel()) {
            try resolveParents(of: level)
            // Other referenced rows may come with the same stack: then this row is a new one.
            try merge.driver.matchTree(self, level, with: stored, where: table.hasValues(of: table.references))
        }
        try merge.driver.endTree(stored)
    }

    /// Clears references to parents that the mapping has dropped, where the reference may be missing.
    private func forgetMissingParents() throws {
        let staged = merge.dialect.staged(table)
        for reference in table.ownReferences where reference.missing == .null {
            let parent = reference.lookups[0].staged.sqlIdentifier
            try merge.driver.execute(
                """
                UPDATE \(staged) AS s SET \(parent) = NULL WHERE s.\(parent) IS NOT NULL
                    AND s.\(parent) NOT IN (SELECT \(StagingTable.record) FROM \(staged))
                """)
        }
    }

    private func findLevels() throws {
        let dialect = merge.dialect
        let staged = dialect.staged(table)
        let parent = "s.\(table.ownReferences[0].lookups[0].staged.sqlIdentifier)"
        try make(
            "edge",
            "parent \(dialect.integer), row \(dialect.integer), record \(dialect.integer), PRIMARY KEY (parent, row)")
        let edges = merge.state.treeTables["edge_\(table.name)"] ?? ""
        try merge.driver.execute(
            """
            INSERT INTO \(edges) SELECT
                CASE WHEN \(parent) IN (SELECT \(StagingTable.record) FROM \(staged)) THEN \(parent) ELSE 0 END,
                s.\(StagingTable.row), s.\(StagingTable.record) FROM \(staged) s
            """)
        try merge.driver.analyze(edges)
        try make(
            "level",
            "level \(dialect.integer), row \(dialect.integer), record \(dialect.integer), PRIMARY KEY (level, row)")
        try merge.driver.execute(
            """
            INSERT INTO \(levels)
            WITH RECURSIVE tree (level, row, record) AS (
                SELECT \(SQLText("0")), row, record FROM \(edges) WHERE parent = 0
                UNION ALL
                SELECT level + 1, e.row, e.record FROM tree \(dialect.join) \(edges) e ON e.parent = tree.record)
            SELECT level, row, record FROM tree
            """)
        try merge.driver.analyze(levels)
    }

    /// Inserts the rows that the store lacks, parents before their children.
    func write() throws -> MergeCounts {
        let stored = try merge.table(of: table)
        let index = try merge.driver.beginTree(table, stored)
        var counts = MergeCounts()
        for level in 0...(try lastLevel()) {
            try resolveParents(of: level)
            try merge.driver.matchTree(self, level, with: index, where: table.hasParents)
            counts.inserted += try merge.driver.insertTree(self, level, noting: index, in: merge)
        }
        try merge.driver.endTree(index)
        let distinct = try merge.driver.count("SELECT count(DISTINCT id) FROM \(name)")
        part.counts.replaced = part.counts.rows - distinct
        if let mark = try merge.deletionMark(of: stored) {
            counts.inserted += try SoftDeletion(merge: merge).restore(
                stored, mark, where: "m.\(key) IN (SELECT id FROM \(name))", as: table)
        }
        counts.unchanged = distinct - counts.inserted
        merge.state.changes.add(counts, of: part)
        return counts
    }

    private func lastLevel() throws -> Int { try merge.driver.count("SELECT max(level) FROM \(levels)") }

    /// Sets the parents' keys in the rows of a level, as far as the parents are in the store.
    private func resolveParents(of level: Int) throws {
        let staged = merge.dialect.staged(table)
        for reference in table.ownReferences {
            let column = reference.column.name.sqlIdentifier
            let parent = "s.\(reference.lookups[0].staged.sqlIdentifier)"
            try merge.driver.execute(
                """
                UPDATE \(staged) AS s SET \(column) = (SELECT id FROM \(name) WHERE record = \(parent))
                WHERE s.\(StagingTable.row) IN (SELECT row FROM \(levels) WHERE level = \(bind: level))
                    AND s.\(column) IS NULL AND \(parent) IS NOT NULL
                """)
        }
    }

    /// Makes a list of the rows of a level that the store lacks, each once.
    ///
    /// - Returns: the work table, with `id` and `row`, and the number of rows.
    package func newRows(_ level: Int, identity: String) throws -> (name: String, count: Int) {
        let dialect = merge.dialect
        let new = try merge.driver.makeTable("new", "id \(dialect.integer) PRIMARY KEY, row \(dialect.integer)")
        let count = try merge.driver.execute(
            """
            INSERT INTO \(new) SELECT last, last FROM (
                SELECT max(s.\(StagingTable.row)) AS last
                FROM \(levels) l \(dialect.join) \(dialect.staged(table)) s ON s.\(StagingTable.row) = l.row
                WHERE l.level = \(bind: level) AND l.record NOT IN (SELECT record FROM \(name))
                GROUP BY \(identity)) n ORDER BY last
            """)
        return (new, count)
    }
}

extension StagingTable {
    /// A condition that a staged row `s` of a tree has its parent's key, or no parent. A row without the key of its parent
    /// is not in the store.
    package var hasParents: String { hasValues(of: ownReferences) }

    /// Returns a condition that a staged row `s` has what these references refer to, or refers to nothing.
    fileprivate func hasValues(of references: [StagedReference]) -> String {
        references.map {
            "(s.\($0.column.name.sqlIdentifier) IS NOT NULL OR s.\($0.lookups[0].staged.sqlIdentifier) IS NULL)"
        }.joinedConditions("AND")
    }
}
