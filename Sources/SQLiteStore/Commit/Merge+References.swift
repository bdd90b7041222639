import FeedModel
import FeedStaging
import GRDB

/// References: columns that hold the primary key of a row of another table, which the feed knows by another value.
///
/// They are looked up when the rows of the other table have been merged, among the rows that the commit leaves there.
/// References by record that tell rows apart are looked up before, too, as deletions are decided by them.
extension Merge {
    /// Looks up the records of the same run that the store already has, where they tell rows apart.
    func prepareReferences(_ part: StagedStack.Part, late: Set<String>) throws {
        let table = part.table
        if late.contains(table.table.name) {
            // Others may refer to its records before they are known.
            if table.isTree { try makeTree(of: table) }
            return
        }
        guard table.isIdentifiedByReference else { return }
        if !table.isIndexed {
            // Deletions query the staged rows.
            try db.execute(
                sql: """
                    CREATE INDEX \(stack.schema).\(table.name)_reference
                    ON \(table.name) (\(table.identityColumns.map(\.sqlIdentifier).joined(separator: ", ")))
                    """)
        }
        for reference in table.identifyingReferences where !table.isWithinTree(reference) {
            try lookUp(reference, of: part)
        }
        if table.isTree { try prepareTree(part) }
    }

    /// Looks up the rows to which a part refers, and refuses rows whose references find nothing.
    func resolveReferences(_ part: StagedStack.Part, among parts: [StagedStack.Part], late: Set<String>) throws {
        guard !part.table.references.isEmpty else { return }
        for reference in part.table.references where !part.table.isWithinTree(reference) {
            try lookUp(reference, of: part)
            if !parts.isCyclic(reference, of: part) { try checkMissing(reference, of: part) }
        }
        if part.table.isTree {
            if late.contains(part.table.table.name) { try prepareTree(part) }
        } else if part.table.isIdentifiedByReference {
            try db.indexKey(of: part.table, counts: part.counts)
        }
    }

    /// Returns the condition under which a stored row `m` belongs to a parent that the run has sent.
    func isChildOfStagedParent(_ within: RowShape.Within) -> String {
        let keys = stack.parts.filter { $0.table.table.name == within.parent && $0.counts.rows > 0 }.compactMap {
            part -> String? in
            guard let key = part.table.table.primaryKey.first?.sqlIdentifier else { return nil }
            if part.table.supplies(part.table.table.primaryKey[0]) {
                return "SELECT s.\(key) FROM \(part.table.qualifiedName) s"
            }
            return """
                SELECT p.\(key) FROM \(part.table.qualifiedName) s
                JOIN \(part.table.qualifiedTable) p ON \(part.table.isSameRow("s", "p"))
                """
        }
        guard !keys.isEmpty else { return "0" }
        return "m.\(within.column.sqlIdentifier) IN (\(keys.sorted().joined(separator: " UNION ALL ")))"
    }

    /// Sets a reference to the primary key of the row that has the values: of several, one that is not gone, and then
    /// that with the lowest primary key.
    func lookUp(_ reference: StagedReference, of part: StagedStack.Part) throws {
        if reference.isByRecord { return try link(reference, of: part) }
        let target = "main.\(reference.target.name.sqlIdentifier)"
        var source = target
        var names = reference.lookups.compactMap { $0.column?.sqlIdentifier }
        var key = reference.targetKey.sqlIdentifier
        let gone = goneColumn(of: reference.target.name).map { ["t.\($0) IS NOT NULL"] } ?? []
        var order = (gone + (reference.findsOneRow ? [] : ["t.\(key)"])).joined(separator: ", ")
        if !order.isEmpty { order = " ORDER BY " + order }
        var isStaying = try self.isStaying(in: reference.target)
        if reference.copiesTarget {
            source = "\(stack.schema).lookup"
            let found = names.map { "t." + $0 }.joined(separator: ", ")
            names = names.indices.map { "v\($0)" }
            try db.execute(
                sql: """
                    DROP TABLE IF EXISTS \(source);
                    CREATE TABLE \(source) (id, \(names.joined(separator: ", ")));
                    INSERT INTO \(source) SELECT t.\(key), \(found) FROM \(target) t\(isStaying.whereClause)\(order);
                    CREATE INDEX \(source)_values ON lookup (\(names.joined(separator: ", ")))
                    """)
            key = "id"
            isStaying = []
            order = " ORDER BY t.rowid"
        }
        let isFound = zip(names, reference.lookups).map { "t.\($0) = s.\($1.staged.sqlIdentifier)" }
        // An expired row is told by the time, which is another in each run.
        let statement = """
            UPDATE \(part.table.qualifiedName) AS s SET \(reference.column.name.sqlIdentifier) = (
                SELECT t.\(key) FROM \(source) t\((isFound + isStaying).whereClause)\(order) LIMIT 1)
            WHERE s.\(reference.lookups[0].staged.sqlIdentifier) IS NOT NULL
            """
        if retention.expiries.isEmpty {
            try db.execute(cached: statement)
        } else {
            try db.execute(sql: statement)
        }
    }

    /// Returns conditions that a row of the store, `t`, stays there when the commit has ended: that its deletion is not
    /// postponed, and that it has not expired.
    private func isStaying(in table: TableInfo) throws -> [String] {
        let postponed = progress.postponed[table.name].map { rows in
            "NOT EXISTS (SELECT 1 FROM \(rows.name) g WHERE \(rows.isRow("t", "g")))"
        }
        let expired = try retention.expiries.filter { $0.table.lowercased() == table.name.lowercased() }.compactMap {
            try $0.isExpired(table, "t").map { "(\($0)) IS NOT TRUE" }
        }
        return (postponed.map { [$0] } ?? []) + expired
    }

    /// Sets the references to records of the same run to the primary keys of those records in the store.
    private func link(_ reference: StagedReference, of part: StagedStack.Part) throws {
        let link = try workTable("link", "record INTEGER PRIMARY KEY, id")
        for other in stack.parts
        where other.table.table.name == reference.target.name && other.table.numbersRecords && other.counts.rows > 0 {
            let table = other.table
            let hasTwins = other.counts.hasTwins
            let record = hasTwins ? "t.record" : "s.\(StagingTable.record)"
            let twins = hasTwins ? " JOIN \(table.twins) t ON t.row = s.\(StagingTable.row)" : ""
            let key = reference.targetKey.sqlIdentifier
            let rows: String
            if case .key = table.identity {
                rows = "\(table.qualifiedName) s JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s"))"
            } else {
                rows = "\(table.qualifiedTable) m CROSS JOIN \(table.qualifiedName) s ON \(table.isSameRow("s", "m"))"
            }
            if other.table.isTree {
                try db.execute(cached: "INSERT OR IGNORE INTO \(link) SELECT record, id FROM \(tree(table))")
                continue
            }
            // A record that is identified by its own reference is not in the store yet while that reference is
            // unresolved.
            let open = table.identifyingReferences.flatMap { own in
                own.lookups.map {
                    "(s.\(own.column.name.sqlIdentifier) IS NOT NULL OR s.\($0.staged.sqlIdentifier) IS NULL)"
                }
            }
            try db.execute(
                cached: """
                    INSERT INTO \(link) SELECT \(record), min(m.\(key)) FROM \(rows)\(twins)
                    \(open.isEmpty ? "" : "WHERE " + open.joined(separator: " AND ")) GROUP BY \(record)
                    """)
        }
        let column = reference.column.name.sqlIdentifier
        let staged = "s.\(reference.lookups[0].staged.sqlIdentifier)"
        try db.execute(
            cached: """
                UPDATE \(part.table.qualifiedName) AS s SET \(column) = (
                    SELECT id FROM \(link) WHERE record = \(staged))
                WHERE s.\(column) IS NULL AND \(staged) IS NOT NULL
                """)
    }

    func checkMissing(_ reference: StagedReference, of part: StagedStack.Part) throws {
        guard reference.missing != .null else { return }
        let column = reference.column.name.sqlIdentifier
        let staged = reference.lookups.map { "s." + $0.staged.sqlIdentifier }
        guard
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT \(staged.joined(separator: ", ")) FROM \(part.table.qualifiedName) s
                        WHERE s.\(column) IS NULL AND \(staged[0]) IS NOT NULL LIMIT 1
                        """))
        else { return }
        let values = zip(reference.lookups, row.databaseValues).map { "\($0.column ?? "number") = \($1)" }
        throw StoreError(
            .constraint,
            "table '\(part.table.table.name)': the column '\(reference.column.name)' refers to a row of table "
                + "'\(reference.target.name)' with \(values.joined(separator: ", ")), and there is none; "
                + "missing = \"create\" makes one, missing = \"null\" leaves the column empty")
    }

    /// - Throws: ``StoreError`` where rows have been inserted without what they refer to.
    func checkFound(_ reference: StagedReference, of part: StagedStack.Part) throws {
        let found = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM \(part.table.qualifiedName) WHERE \(reference.column.name.sqlIdentifier) IS NOT NULL)
                """)
        guard try Bool.fetchOne(found) == true else { return }
        throw StoreError.circle(part.table.table.name, reference)
    }

    /// Refuses rows that only a reference tells apart, if the rows referred to refer back to them: they could not be
    /// told apart.
    func checkCircles(_ parts: [StagedStack.Part]) throws {
        for (index, part) in parts.enumerated() where part.counts.rows > 0 && !part.table.isTree {
            for reference in part.table.identifyingReferences
            where parts[(index + 1)...].contains(where: {
                $0.table.table.name == reference.target.name && $0.counts.rows > 0
            }) {
                let staged = try db.makeStatement(
                    sql: """
                        SELECT EXISTS (
                            SELECT 1 FROM \(part.table.qualifiedName)
                            WHERE \(reference.lookups[0].staged.sqlIdentifier) IS NOT NULL)
                        """)
                guard try Bool.fetchOne(staged) == true else { continue }
                throw StoreError.circle(part.table.table.name, reference)
            }
        }
    }

}
