import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// References: columns that hold the primary key of a row of another table, which the feed knows by another value.
///
/// They are looked up when the rows of the other table have been merged, among the rows that the commit leaves there.
/// References by record that tell rows apart are looked up before, too, as deletions are decided by them.
extension Merge {
    /// Looks up the records of the same run that the store already has, where they tell rows apart.
    func prepareReferences(_ part: StagedStack.Part, late: Set<String>) throws {
        guard part.table.isIdentifiedByReference, !late.contains(part.table.table.name) else { return }
        for reference in part.table.identifyingReferences where !part.table.isWithinTree(reference) {
            try lookUp(reference, of: part)
        }
        if part.table.isTree { try prepareTree(part) }
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
            try indexKey(of: part)
        }
    }

    /// Returns the condition under which a stored row `m` belongs to a parent that the run has sent.
    func isChildOfStagedParent(_ within: RowShape.Within) throws -> String {
        guard let parent = try tables.table(within.parent), let name = parent.primaryKey.first,
            let child = stack.parts.first(where: { $0.table.within == within })
        else { return "false" }
        let key = try parent.needed(name)
        let keys = try stack.parts.filter { $0.table.table.name == parent.name && $0.counts.rows > 0 }.map { part in
            if part.table.supplies(name) { return "SELECT s.\(key.sql) FROM \(part.table.staged) s" }
            return "SELECT m.\(key.sql) FROM \(try stagedAndStored(part.table))"
        }
        guard !keys.isEmpty else { return "false" }
        let column = try details(of: child.table.table.name).needed(within.column)
        return "\(column.value("m", comparedWith: key)) IN (\(keys.sorted().joined(separator: " UNION ALL ")))"
    }

    /// Sets a reference to the primary key of the row that has the values: of several, one that is not gone, and then
    /// that with the lowest primary key.
    ///
    /// - Parameter isAgain: true where it may have been set before.
    func lookUp(_ reference: StagedReference, of part: StagedStack.Part, isAgain: Bool = false) throws {
        if reference.isByRecord { return try link(reference, of: part) }
        let column = reference.column.name.sqlIdentifier
        let key = reference.targetKey.sqlIdentifier
        let target = try details(of: reference.target.name)
        let isFound = reference.lookups.compactMap { lookup in
            lookup.column.map { "t.\($0.sqlIdentifier) = s.\(lookup.staged.sqlIdentifier)" }
        }
        let isGone = try goneColumn(of: target).map { "t.\($0) IS NOT NULL, " } ?? ""
        let row = "s.\(StagingTable.row)"
        let isOne = reference.findsOneRow
        try connection.execute(
            """
            UPDATE \(part.table.staged) AS r SET \(column) = f.id FROM (
                SELECT \(isOne ? "" : "DISTINCT ON (\(row)) ")\(row) AS row, t.\(key) AS id
                FROM \(part.table.staged) s \(isAgain ? "LEFT " : "")JOIN \(target.sql) t
                    ON \((isFound + isStaying(in: target)).joinedConditions("AND"))
                WHERE s.\(reference.lookups[0].staged.sqlIdentifier) IS NOT NULL
                \(isOne ? "" : "ORDER BY \(row), \(isGone)id")) f
            WHERE r.\(StagingTable.row) = f.row\(isAgain ? " AND r.\(column) IS DISTINCT FROM f.id" : "")
            """)
    }

    /// Returns conditions that a row of the store, `t`, stays there when the commit has ended: that its deletion is not
    /// postponed, and that it has not expired.
    private func isStaying(in table: TableDetails) throws -> [String] {
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
        let key = reference.targetKey.sqlIdentifier
        let sources = try stack.parts.filter {
            $0.table.table.name == reference.target.name && $0.table.numbersRecords && $0.counts.rows > 0
        }.compactMap { other -> String? in
            let table = other.table
            if other.table.isTree {
                // Around a circle, a tree may have to wait for what refers to it.
                return try hasWorkTable(tree(table)) ? "SELECT record, id FROM \(tree(table))" : nil
            }
            let hasTwins = other.counts.hasTwins
            let record = hasTwins ? "t.record" : "s.\(StagingTable.record)"
            let twins = hasTwins ? " JOIN \(table.stagedTwins) t ON t.row = s.\(StagingTable.row)" : ""
            // A record that is identified by its own reference is not in the store yet while that reference is
            // unresolved.
            let open = table.identifyingReferences.flatMap { own in
                own.lookups.map {
                    "(s.\(own.column.name.sqlIdentifier) IS NOT NULL OR s.\($0.staged.sqlIdentifier) IS NULL)"
                }
            }
            return
                """
                SELECT \(record) AS record, m.\(key) AS id FROM \(try stagedAndStored(table))\(twins)\(open.whereClause)
                """
        }
        guard !sources.isEmpty else { return }
        let column = reference.column.name.sqlIdentifier
        try connection.execute(
            """
            UPDATE \(part.table.staged) AS s SET \(column) = l.id FROM (
                SELECT DISTINCT ON (record) record, id FROM (\(sources.joined(separator: " UNION ALL "))) a
                ORDER BY record, id) l
            WHERE s.\(column) IS NULL AND s.\(reference.lookups[0].staged.sqlIdentifier) = l.record
            """)
    }

    func checkMissing(_ reference: StagedReference, of part: StagedStack.Part) throws {
        guard reference.missing != .null else { return }
        let staged = reference.lookups.map { "s." + $0.staged.sqlIdentifier }
        let missing = try connection.execute(
            """
            SELECT \(staged.joined(separator: ", ")) FROM \(part.table.staged) s
            WHERE s.\(reference.column.name.sqlIdentifier) IS NULL AND \(staged[0]) IS NOT NULL
            ORDER BY s.\(StagingTable.row) LIMIT 1
            """)
        guard let row = missing.first else { return }
        let values = reference.lookups.enumerated().map { index, lookup in
            let value = row.string(index) ?? "NULL"
            let isNumber = lookup.type == "INTEGER" || lookup.type == "REAL" || row.isNull(index)
            return "\(lookup.column ?? "number") = \(isNumber ? value : String(reflecting: value))"
        }
        throw StoreError(
            .constraint,
            "table '\(part.table.table.name)': the column '\(reference.column.name)' refers to a row of table "
                + "'\(reference.target.name)' with \(values.joined(separator: ", ")), and there is none; "
                + "missing = \"create\" makes one, missing = \"null\" leaves the column empty")
    }

    /// - Throws: ``StoreError`` where rows have been inserted without what they refer to.
    func checkFound(_ reference: StagedReference, of part: StagedStack.Part) throws {
        guard try hasRows(part, where: reference.column.name) else { return }
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
                guard try hasRows(part, where: reference.lookups[0].staged) else { continue }
                throw StoreError.circle(part.table.table.name, reference)
            }
        }
    }

    /// Returns true if a part has rows with a value in a column.
    private func hasRows(_ part: StagedStack.Part, where column: String) throws -> Bool {
        let isThere = "SELECT EXISTS (SELECT 1 FROM \(part.table.staged) WHERE \(column.sqlIdentifier) IS NOT NULL)"
        return try connection.execute(isThere)[0].bool(0) == true
    }

}
