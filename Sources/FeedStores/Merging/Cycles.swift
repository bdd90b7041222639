import FeedModel
import FeedStaging

/// References to rows that are merged later: within one table, or around a circle of tables.
///
/// A row is first merged with the reference found at that time, and updated with the final one afterwards. If nothing
/// else changes in an existing row, the row counts as updated, and is logged and reported.
struct Cycles {
    let merge: MergeContext

    /// Makes the tables in which the keys of written rows are noted: rows that are changed again count once.
    func prepare(_ parts: [StagedStack.Part]) throws {
        for part in parts where part.counts.rows > 0 && parts.hasCycle(part) {
            let name = keyName(of: part.table)
            guard !part.table.keyColumns.isEmpty, merge.state.written[name] == nil else { continue }
            let table = try merge.table(of: part.table)
            let key = try part.table.keyColumns.map { try table.needed($0) }
            merge.state.written[name] = try merge.driver.makeTable(
                merge.uniqueName("written"),
                merge.dialect.keysDefinition(key, of: part.table, columns: ["is_new \(merge.dialect.boolean)"]))
        }
    }

    /// Notes the keys of staged rows, `s`, that are written.
    func noteWritten(_ staged: StagingTable, isNew: String, from rows: String) throws {
        guard let written = merge.state.written[keyName(of: staged)] else { return }
        let key = staged.keyColumns.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
        let names = staged.keyColumns.indices.map { "k\($0)" }.joined(separator: ", ")
        try merge.driver.execute(
            merge.dialect.insertNew(into: written, "\(names), is_new", "SELECT \(key), \(isNew) FROM \(rows)"))
    }

    private func keyName(of staged: StagingTable) -> String {
        ([staged.table.name] + staged.keyColumns.map { $0.lowercased() }).joined(separator: " ")
    }

    /// Returns how the counts of the merge change.
    func resolve(_ part: StagedStack.Part, among parts: [StagedStack.Part]) throws -> MergeCounts {
        let references = References(merge: merge)
        var counts = MergeCounts()
        for reference in part.table.references where parts.isCyclic(reference, of: part) {
            let former = try formerValues(reference, of: part)
            try references.lookUp(reference, of: part)
            try references.checkMissing(reference, of: part)
            guard let written = merge.state.written[keyName(of: part.table)] else {
                // A row without an identity cannot be found again.
                try references.checkFound(reference, of: part)
                continue
            }
            let updated = try update(part, reference, from: former, written)
            counts.updated += updated
            counts.unchanged -= updated
            merge.state.changes.add(inserted: 0, updated: updated, unchanged: -updated, of: part)
        }
        return counts
    }

    /// Copies the values that a reference had before.
    private func formerValues(_ reference: StagedReference, of part: StagedStack.Part) throws -> String {
        let column = try merge.table(of: part.table).needed(reference.column.name)
        let former = try merge.driver.makeTable(
            "former", "row \(merge.dialect.integer) PRIMARY KEY, value \(merge.dialect.definition(of: column))")
        try merge.driver.execute(
            """
            INSERT INTO \(former) SELECT \(StagingTable.row), \(column.sql) FROM \(merge.dialect.staged(part.table))
            WHERE \(reference.lookups[0].staged.sqlIdentifier) IS NOT NULL
            """)
        try merge.driver.analyze(former)
        return former
    }

    /// Writes the references that were not found before, or that changed.
    ///
    /// - Parameters:
    ///   - former: the work table of the values found before.
    ///   - written: the work table of the keys of rows that the merge has written.
    /// - Returns: the number of rows that the merge had not written before.
    private func update(
        _ part: StagedStack.Part, _ reference: StagedReference, from former: String, _ written: String
    ) throws -> Int {
        let dialect = merge.dialect
        let staged = part.table
        let table = try merge.table(of: staged)
        let column = try table.needed(reference.column.name)
        let rows = try merge.makeList(
            "closing", of: table, .update, columns: [column.name],
            adding: ["row \(dialect.integer)", "is_new \(dialect.boolean)"])
        let isWritten = staged.keyColumns.enumerated().map { "w.k\($0) = s.\($1.sqlIdentifier)" }
            .joinedConditions("AND")
        let isUpdated = staged.updates(column.name)
        let differs = merge.dialect.differs(column, "s.\(column.sql)", from: "m.\(column.sql)", exactly: false)
        let found = try merge.driver.execute(
            dialect.append(
                to: rows, rows.located + ["row", "is_new"],
                "\(table.locators("m")), s.\(StagingTable.row), w.is_new",
                from: """
                    \(former) f \(dialect.join) \(dialect.staged(staged)) s ON s.\(StagingTable.row) = f.row
                    \(dialect.join) \(table.sql) m ON \(dialect.matches(staged, "m", "s"))
                    LEFT JOIN \(written) w ON \(isWritten)
                    WHERE \(dialect.isDistinct("s.\(column.sql)", from: "f.value")) AND \(differs)\(isUpdated ? "" : " AND w.is_new")
                    """, order: "s.\(StagingTable.row)"))
        guard found > 0 else { return 0 }
        try merge.driver.analyze(rows.name)
        try merge.images?.add(rows)
        let source = "\(dialect.join) \(dialect.staged(staged)) s ON s.\(StagingTable.row) = g.row"
        let known = "\(rows.stored(dialect)) \(source) WHERE g.is_new IS NULL"
        let report = ChangeReport(merge: merge)
        let columns = try report.writtenColumns(of: staged, table)
        let new = columns.map { ($0.name == column.name ? "s." : "m.") + $0.sql }.joined(separator: ", ")
        try report.updates(
            of: table.name, columns, key: staged.keyColumns,
            before: "SELECT g.row, 1, \(columns.list("m")) FROM \(known)",
            after: "SELECT g.row, 0, \(new) FROM \(known)")
        let updated = try merge.log(
            "update", table.name, key: merge.changelogKey(of: staged, table, "m"), from: "\(known) ORDER BY g.id")
        try noteWritten(staged, isNew: dialect.literal(false), from: known)
        try merge.driver.execute(
            dialect.update(rows, [(column.sql, "s.\(column.sql)")], joined: source, isConstant: false))
        return updated
    }
}
