import FeedModel
import FeedStaging
import FeedStores
import GRDB

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
            guard case .key(let key, let collations) = part.table.identity, progress.written[name] == nil else {
                continue
            }
            let columns = key.indices.map {
                "k\($0) \(part.table.table.column(key[$0])?.stagedType ?? "BLOB") COLLATE \(collations[$0])"
            }
            let names = key.indices.map { "k\($0)" }.joined(separator: ", ")
            let definition = "\(columns.joined(separator: ", ")), is_new, PRIMARY KEY (\(names))"
            let table = try workTable("written_\(Fingerprint.hexadecimal(name + definition))", definition)
            progress.written[name] = table
            progress.tablesToEmpty.append(table)
        }
    }

    /// Notes the keys of staged rows, `s`, that are written.
    func noteWritten(_ table: StagingTable, isNew: String, from rows: String) throws {
        guard let written = progress.written[keyName(of: table)] else { return }
        let key = table.keyColumns.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
        try db.execute(cached: "INSERT OR IGNORE INTO \(written) SELECT \(key), \(isNew) FROM \(rows)")
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
            let column = reference.column.name.sqlIdentifier
            let former = try workTable("former", "row INTEGER PRIMARY KEY, value")
            try db.execute(
                cached: """
                    INSERT INTO \(former) SELECT \(StagingTable.row), \(column) FROM \(part.table.qualifiedName)
                    WHERE \(reference.lookups[0].staged.sqlIdentifier) IS NOT NULL
                    """)
            try lookUp(reference, of: part)
            try checkMissing(reference, of: part)
            guard case .key = part.table.identity, let written = progress.written[keyName(of: part.table)] else {
                // A row without an identity cannot be found again.
                try checkFound(reference, of: part)
                continue
            }
            let updated = try update(part, reference, from: former, written)
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
        _ part: StagedStack.Part, _ reference: StagedReference, from former: String, _ written: String
    ) throws -> Int {
        let table = part.table
        let column = reference.column.name
        let rows = ChangedRows(
            table: table.table, change: .update, columns: [column],
            name: try workTable(
                "closing_\(table.table.locator.count)",
                "\(ChangedRows.located(table.table).joined(separator: ", ")), row INTEGER, is_new, PRIMARY KEY (\(ChangedRows.located(table.table).joined(separator: ", ")))"
            ))
        let key = table.keyColumns.enumerated().map { "w.k\($0) = s.\($1.sqlIdentifier)" }.joinedConditions("AND")
        let isUpdated =
            (table.sync == .upsert || table.sync == .mirror) && !table.insertOnly.contains(column.lowercased())
        try db.execute(
            cached: """
                INSERT OR IGNORE INTO \(rows.name)
                SELECT \(table.table.locator.map { "m." + $0 }.joined(separator: ", ")), s.\(StagingTable.row), w.is_new
                FROM \(former) f CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = f.row
                CROSS JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s"))
                LEFT JOIN \(written) w ON \(key)
                WHERE s.\(column.sqlIdentifier) IS NOT f.value
                    AND s.\(column.sqlIdentifier) IS NOT m.\(column.sqlIdentifier) COLLATE BINARY\(isUpdated ? "" : " AND w.is_new")
                """)
        guard db.changesCount > 0 else { return 0 }
        try keep(rows)
        let known = """
            \(rows.name) g CROSS JOIN \(table.qualifiedTable) m ON \(rows.isRow("m", "g"))
            CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = g.row
            WHERE g.is_new IS NULL ORDER BY g.row
            """
        try tellUpdates(table, of: table.identityColumns + table.valueColumns, from: known) { name in
            "\(name == column ? "s" : "m").\(name.sqlIdentifier)"
        }
        try writeJournal(table.table.name, key: table.journalKey("m"), operation: "update", from: known)
        let updated = db.changesCount
        try noteWritten(table, isNew: "0", from: known)
        try db.execute(
            cached: """
                UPDATE \(table.qualifiedTable) AS m SET \(column.sqlIdentifier) = (
                    SELECT s.\(column.sqlIdentifier) FROM \(rows.name) g
                    CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = g.row WHERE \(rows.isRow("m", "g")))
                WHERE (\(table.table.locator.joined(separator: ", "))) IN (
                    SELECT \(rows.located.joined(separator: ", ")) FROM \(rows.name))
                """)
        return updated
    }
}
