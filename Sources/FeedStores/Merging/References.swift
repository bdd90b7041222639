import FeedModel
import FeedStaging

/// References: columns that hold the primary key of a row of another table, which the feed identifies by another
/// value.
///
/// They are looked up after the rows of the other table have been merged, among the rows that remain. References that
/// identify rows are also looked up before, because deletions depend on them.
struct References {
    let merge: MergeContext

    /// Looks up the records of the same run that the store already has, if they identify rows.
    func prepare(_ part: StagedStack.Part, late: Set<String>) throws {
        let table = part.table
        guard !late.contains(table.table.name), table.isIdentifiedByReference else { return }
        // Deletions query the staged rows.
        try merge.driver.indexIdentity(of: part)
        for reference in table.identifyingReferences { try lookUp(reference, of: part) }
    }

    /// Looks up the rows to which a part refers, and refuses rows whose references find nothing.
    func resolve(_ part: StagedStack.Part, among parts: [StagedStack.Part]) throws {
        let table = part.table
        guard !table.references.isEmpty else { return }
        for reference in table.references {
            try lookUp(reference, of: part)
            if !parts.isCyclic(reference, of: part) { try checkMissing(reference, of: part) }
        }
        merge.state.resolved.insert(table.name)
        if table.isIdentifiedByReference { try merge.driver.indexKey(of: part) }
    }

    /// Returns the condition under which a stored row `m` belongs to a parent that was sent with its children.
    func isChildOfStagedParent(
        _ within: RowShape.Within, _ child: StoredTable, scope: [String: String]
    ) throws -> String {
        let dialect = merge.dialect
        guard let parent = try merge.driver.table(within.parent), let name = parent.primaryKey.first
        else { return dialect.literal(false) }
        let key = try parent.needed(name)
        let keys = merge.stack.parts.filter {
            $0.table.table.name == parent.name && $0.table.mirroredWithin.contains(child.name)
                && $0.table.scope == scope && $0.counts.rows > 0
        }.map { part in
            part.table.supplies(name)
                ? "SELECT s.\(key.sql) FROM \(dialect.staged(part.table)) s"
                : "SELECT m.\(key.sql) FROM \(dialect.stagedAndStored(part.table, parent))"
        }
        guard !keys.isEmpty else { return dialect.literal(false) }
        let column = try child.needed(within.column)
        return
            "\(merge.dialect.value(of: column, "m", comparedWith: key)) IN (\(keys.sorted().joined(separator: " UNION ALL ")))"
    }

    /// Sets a reference to the primary key of the row that has the values.
    func lookUp(_ reference: StagedReference, of part: StagedStack.Part) throws {
        if reference.isByRecord { return try link(reference, of: part) }
        let target = try merge.table(reference.target.name)
        // An expired row is known by the time, which is another in each run.
        try merge.driver.lookUp(
            reference, of: part, isStaying: merge.statement(try isStaying(in: target)),
            mark: try merge.anyDeletionMark(of: target))
    }

    /// Returns conditions that a row of the store, `t`, stays there when the commit has ended: that its deletion is not
    /// postponed, and that it has not expired.
    private func isStaying(in table: StoredTable) throws -> SQLText {
        let postponed = merge.state.postponed[table.id].map { rows in
            "NOT EXISTS (SELECT 1 FROM \(rows.name) g WHERE \(merge.dialect.isListed(rows, "t", "g")))"
        }
        let expired = try merge.retention.expiries.filter { $0.table.lowercased() == table.name.lowercased() }
            .compactMap { try merge.dialect.isExpired($0, table, "t") }.map { "(\($0)) IS NOT TRUE" }
        return SQLText(((postponed.map { [$0] } ?? []) + expired).joinedConditions("AND"))
    }

    /// Sets the references to records of the same run to the primary keys of those records in the store.
    private func link(_ reference: StagedReference, of part: StagedStack.Part) throws {
        let dialect = merge.dialect
        let target = try merge.table(reference.target.name)
        let key = try target.needed(reference.targetKey)
        let others = merge.stack.parts.filter {
            $0.table.table.name == reference.target.name && $0.table.numbersRecords && $0.counts.rows > 0
        }
        guard !others.isEmpty else { return }
        let link = try merge.driver.makeTable(
            "link", "record \(dialect.integer) PRIMARY KEY, id \(dialect.definition(of: key))")
        for other in others {
            let records = storedRecords(of: other, target, key.sql)
            try merge.driver.execute(
                dialect.insertNew(into: link, "record, id", SQLText(dialect.firstOfEach(records))))
        }
        try merge.driver.analyze(link)
        let column = reference.column.name.sqlIdentifier
        let staged = "s.\(reference.lookups[0].staged.sqlIdentifier)"
        try merge.driver.execute(
            """
            UPDATE \(dialect.staged(part.table)) AS s SET \(column) = (SELECT id FROM \(link) WHERE record = \(staged))
            WHERE s.\(column) IS NULL AND \(staged) IS NOT NULL
            """)
    }

    /// Returns a query for the records of a part that the store has, with their primary keys as `id`.
    private func storedRecords(of part: StagedStack.Part, _ target: StoredTable, _ key: String) -> String {
        let table = part.table
        let record = part.counts.hasDuplicates ? "t.record" : "s.\(StagingTable.record)"
        let duplicates =
            part.counts.hasDuplicates
            ? " JOIN \(merge.dialect.duplicates(of: table)) t ON t.row = s.\(StagingTable.row)" : ""
        // A record that is identified by its own reference is not in the store yet while that reference is unresolved.
        let unresolved = merge.state.resolved.contains(table.name) ? [] : table.identifyingReferences
        let isResolved = unresolved.flatMap { own in
            own.lookups.map {
                "(s.\(own.column.name.sqlIdentifier) IS NOT NULL OR s.\($0.staged.sqlIdentifier) IS NULL)"
            }
        }
        return """
            SELECT \(record) AS record, m.\(key) AS id
            FROM \(merge.dialect.stagedAndStored(table, target))\(duplicates)\(isResolved.whereClause)
            """
    }

    // MARK: - Errors

    /// - Throws: ``StoreError`` if a reference finds nothing and may not be empty.
    func checkMissing(_ reference: StagedReference, of part: StagedStack.Part) throws {
        guard reference.missing != .null else { return }
        let staged = reference.lookups.map { "s." + $0.staged.sqlIdentifier }
        let values = try merge.driver.first(
            """
            SELECT \(staged.joined(separator: ", ")) FROM \(merge.dialect.staged(part.table)) s
            WHERE s.\(reference.column.name.sqlIdentifier) IS NULL AND \(staged[0]) IS NOT NULL
            ORDER BY s.\(StagingTable.row) LIMIT 1
            """
        ) { row in
            reference.lookups.enumerated().map { index, lookup -> String in
                let value = row.string(index) ?? "NULL"
                let isNumber = lookup.type == "INTEGER" || lookup.type == "REAL" || row.isNull(index)
                return "\(lookup.column ?? "number") = \(isNumber ? value : String(reflecting: value))"
            }.joined(separator: ", ")
        }
        guard let values else { return }
        throw StoreError(
            .constraint,
            "table '\(part.table.table.name)': the column '\(reference.column.name)' refers to a row of table "
                + "'\(reference.target.name)' with \(values), which does not exist; "
                + "missing = \"create\" makes one, missing = \"null\" leaves the column empty")
    }

    /// - Throws: ``StoreError`` if rows have been inserted without the keys to which they refer.
    func checkFound(_ reference: StagedReference, of part: StagedStack.Part) throws {
        guard try hasRows(part, with: reference.column.name) else { return }
        throw StoreError.circle(part.table.table.name, reference)
    }

    /// Rejects rows that only a reference distinguishes, if the referenced rows refer back to them or are among them.
    func checkCircles(_ parts: [StagedStack.Part]) throws {
        for (index, part) in parts.enumerated() where part.counts.rows > 0 {
            for reference in part.table.identifyingReferences
            where parts[index...].contains(where: {
                $0.table.table.name == reference.target.name && $0.counts.rows > 0
            }) {
                guard try hasRows(part, with: reference.lookups[0].staged) else { continue }
                throw StoreError.circle(part.table.table.name, reference)
            }
        }
    }

    /// Returns true if a part has rows with a value in a column.
    private func hasRows(_ part: StagedStack.Part, with column: String) throws -> Bool {
        try merge.driver.isTrue(
            """
            SELECT EXISTS (SELECT 1 FROM \(merge.dialect.staged(part.table)) WHERE \(column.sqlIdentifier) IS NOT NULL)
            """)
    }
}
