import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// References to rows that are merged after the rows that refer to them: within one table, or around a circle of
/// tables.
///
/// A row is merged with what its reference finds before the other rows are merged, and gets what it finds afterwards.
/// Where that is all that changes in a known row, the row counts as updated, and is logged and reported.
extension Merge {
    /// Makes the tables in which the keys of written rows are noted: rows that are changed again count once.
    func prepareCycles(_ parts: [StagedStack.Part]) throws {
        for part in parts where part.counts.rows > 0 && parts.hasCycle(part) {
            let name = keyName(of: part.table)
            guard case .key(let key, _) = part.table.identity, progress.written[name] == nil else { continue }
            let details = try details(of: part.table.table.name)
            let columns = try key.enumerated().map { "k\($0) \(try details.needed($1).definition)" }
            progress.written[name] = try workTable(
                "written_\(progress.number())", columns.joined(separator: ", ") + ", is_new boolean NOT NULL")
        }
    }

    /// Notes the keys of staged rows, `s`, that are written.
    func noteWritten(_ table: StagingTable, isNew: String, from rows: String) throws {
        guard let written = progress.written[keyName(of: table)] else { return }
        let key = table.keyColumns.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
        try connection.execute("INSERT INTO \(written) SELECT \(key), \(isNew) FROM \(rows)")
    }

    private func keyName(of table: StagingTable) -> String {
        ([table.table.name] + table.keyColumns.map { $0.lowercased() }).joined(separator: " ")
    }

    /// Returns how the counts of the merge change.
    func resolveCycles(_ part: StagedStack.Part, among parts: [StagedStack.Part]) throws -> MergeCounts {
        var counts = MergeCounts()
        for reference in part.table.references where parts.isCyclic(reference, of: part) {
            if part.table.isWithinTree(reference) {
                try checkMissing(reference, of: part)
                continue
            }
            let column = reference.column.name
            let details = try details(of: part.table.table.name)
            let former = try workTable(
                "former_\(progress.number())", "row bigint NOT NULL, value \(try details.needed(column).definition)")
            try connection.execute(
                """
                INSERT INTO \(former) SELECT \(StagingTable.row), \(column.sqlIdentifier) FROM \(part.table.staged)
                WHERE \(reference.lookups[0].staged.sqlIdentifier) IS NOT NULL
                """)
            try lookUp(reference, of: part, isAgain: true)
            try checkMissing(reference, of: part)
            guard case .key = part.table.identity, let written = progress.written[keyName(of: part.table)] else {
                // A row without an identity cannot be found again.
                try checkFound(reference, of: part)
                continue
            }
            try connection.executeScript("ANALYZE \(former); ANALYZE \(written)")
            let updated = try update(part, details, column, from: former, written)
            counts.updated += updated
            counts.unchanged -= updated
            progress.changes.add(inserted: 0, updated: updated, unchanged: -updated, of: part)
        }
        return counts
    }

    /// Writes the references that were not found before, or not so.
    ///
    /// - Parameters:
    ///   - former: the merge's table of what was found before.
    ///   - written: that of the keys of rows that the merge has written.
    /// - Returns: the number of rows that the merge has not written before.
    private func update(
        _ part: StagedStack.Part, _ details: TableDetails, _ name: String, from former: String, _ written: String
    ) throws -> Int {
        let table = part.table
        let column = try details.needed(name)
        let closing = try workTable("closing_\(progress.number())", "row bigint NOT NULL, is_new boolean")
        let key = table.keyColumns.enumerated().map { "w.k\($0) = s.\($1.sqlIdentifier)" }.joined(separator: " AND ")
        let isUpdated =
            (table.sync == .upsert || table.sync == .mirror) && !table.insertOnly.contains(name.lowercased())
        let found = try connection.execute(
            """
            INSERT INTO \(closing) SELECT s.\(StagingTable.row), w.is_new
            FROM \(former) f JOIN \(table.staged) s ON s.\(StagingTable.row) = f.row
            JOIN \(details.sql) m ON \(table.matches("m", "s")) LEFT JOIN \(written) w ON \(key)
            WHERE s.\(name.sqlIdentifier) IS DISTINCT FROM f.value AND \(column.differs("s", from: "m"))\(isUpdated ? "" : " AND w.is_new")
            """)
        guard found.affectedRows > 0 else { return 0 }
        try connection.execute("ANALYZE \(closing)")
        let rows = """
            \(closing) g JOIN \(table.staged) s ON s.\(StagingTable.row) = g.row
            JOIN \(details.sql) m ON \(table.matches("m", "s"))
            """
        try keep(details, from: rows)
        let known = rows + " WHERE g.is_new IS NULL"
        if onChange != nil {
            let columns = try writtenColumns(of: table)
            let new = columns.map { ($0.name == column.name ? "s." : "m.") + $0.sql }.joined(separator: ", ")
            try tellUpdates(
                details.name, columns, key: table.keyColumns,
                before: "SELECT g.row, true, \(columns.list("m")) FROM \(known)",
                after: "SELECT g.row, false, \(new) FROM \(known)")
        }
        let updated = try writeJournal(
            details.name, key: journalKey(of: table, details, "m"), operation: "update", from: known + " ORDER BY g.row"
        )
        try noteWritten(table, isNew: "false", from: known)
        try connection.execute(
            """
            UPDATE \(details.sql) AS m SET \(column.sql) = s.\(name.sqlIdentifier)
            FROM \(closing) g JOIN \(table.staged) s ON s.\(StagingTable.row) = g.row WHERE \(table.matches("m", "s"))
            """)
        return updated
    }
}
