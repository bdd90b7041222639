import FeedModel
import FeedStaging
import FeedStores

/// The keys of staged rows.
extension PostgresMergeDriver {
    /// Refuses rows that lack a value the store requires, and keeps only the last of several rows with one key. For a
    /// key with references in it, this is done once they have been resolved.
    ///
    /// Of rows from a scratch database, only those are left to be found that differ in their bytes, but not in the
    /// store.
    ///
    /// - Parameter onReplaced: called where several rows have one key, before one of them is removed.
    func indexKey(of table: StagingTable, _ counts: StagedCounts, onReplaced: () throws -> Void) throws {
        for column in table.requiredColumns(counts) { try checkMissingValue(of: column.name, column.isKey, in: table) }
        let details = try details(of: table.table.name)
        let identity = try table.identityColumns.map { try details.needed($0) }
        guard !identity.isEmpty, counts.rows > 1 else { return }
        let isDone = stack.path != nil && !stack.hasReplaced
        if isDone, !table.isIdentifiedByReference, identity.allSatisfy(\.bytesDecide) { return }
        try removeReplacedRows(of: table, counts, identity, onReplaced: onReplaced)
    }

    private func removeReplacedRows(
        of table: StagingTable, _ counts: StagedCounts, _ identity: [StoredTable.Column], onReplaced: () throws -> Void
    ) throws {
        let key = identity.map { column in
            if case .key = table.identity { "s.\(column.name.sqlIdentifier)" } else { column.exact("s") }
        }.joined(separator: ", ")
        let row = "s.\(StagingTable.row)"
        let record = table.numbersRecords ? ", s.\(StagingTable.record) AS record" : ""
        // References to a record that was replaced lead to its replacement.
        let last = """
            SELECT \(row) AS row\(record), \(table.kept(row, of: key)) AS last FROM \(table.staged) s
            """
        if table.keeps == .discard {
            let several = try connection.execute(
                """
                SELECT \(key), count(*), min(\(row)) FROM \(table.staged) s
                GROUP BY \(key), \(StagingTable.request(of: row)) HAVING count(*) > 1 LIMIT 1
                """)
            if let found = several.first {
                let values = identity.enumerated().map { "\($1.name) = \(found.string($0) ?? "NULL")" }
                throw StoreError.duplicates(
                    in: table, "(\(values.joined(separator: ", ")))", count: Int(try found.int64(identity.count) ?? 0),
                    row: try found.int64(identity.count + 1) ?? 0)
            }
        }
        if table.numbersRecords {
            guard
                try connection.execute("SELECT EXISTS (SELECT 1 FROM (\(last)) l WHERE row <> last)")[0].bool(0) == true
            else { return }
            try onReplaced()
            if counts.hasDuplicates {
                try connection.execute(
                    "UPDATE \(table.stagedDuplicates) AS t SET row = l.last FROM (\(last)) l WHERE t.row = l.row")
            } else {
                try makeDuplicates(of: table)
                try connection.execute(
                    "INSERT INTO \(table.stagedDuplicates) (number, record, row) SELECT row, record, last FROM (\(last)) l"
                )
            }
        }
        let removed = try connection.execute(
            """
            DELETE FROM \(table.staged) AS d USING (\(last)) l
            WHERE d.\(StagingTable.row) = l.row AND l.row <> l.last
            """
        ).affectedRows
        counts.rows -= removed
        counts.replaced += removed
        counts.hasDuplicates = counts.hasDuplicates || (table.numbersRecords && removed > 0)
    }

    /// Checks the rows themselves, as a row without a value may have been forgotten again.
    private func checkMissingValue(of column: String, _ isKey: Bool, in table: StagingTable) throws {
        let columns = table.describedColumns
        let found = try connection.execute(
            """
            SELECT \(columns.map(\.column.sqlIdentifier).joined(separator: ", ")) FROM \(table.staged)
            WHERE \(table.lacksValue(column, isKey)) ORDER BY \(StagingTable.row) LIMIT 1
            """)
        guard let row = found.first else { return }
        let isNumber = Dictionary(
            table.columns.map { ($0.name, $0.stagedType != "TEXT") }
                + table.references.flatMap(\.lookups).map { ($0.staged, $0.type != "TEXT") }
        ) { first, _ in first }
        let text = columns.enumerated().map { index, column -> String in
            let value = row.string(index).map { isNumber[column.column] == false ? String(reflecting: $0) : $0 }
            return "\(column.name) = \(value ?? "NULL")"
        }.joined(separator: ", ")
        throw table.missingValue(column, isKey, in: "(\(text.count > 300 ? "\(text.prefix(300))…" : text))")
    }
}

extension PostgresMergeDriver: StagedRecordStore {
    func rows(of table: StagingTable) -> String { table.staged }

    func makeTable(_ name: String, columns: [String]) throws -> String {
        let definition = columns.map { $0 + " bigint NOT NULL" }.joined(separator: ", ")
        return try makeTable(
            name, "\(definition), PRIMARY KEY (\(columns.joined(separator: ", ")))")
    }

    func run(_ sql: String) throws -> Int { try connection.execute(sql).affectedRows }

    func isTrue(_ sql: String) throws -> Bool { try connection.execute(sql)[0].bool(0) == true }

    func remove(from table: StagingTable, where condition: String) throws -> Int {
        try run("DELETE FROM \(rows(of: table)) WHERE \(condition)")
    }

    func keepLast(of table: StagingTable, _ counts: StagedCounts, onReplaced: () throws -> Void) throws {
        guard !table.isIdentifiedByReference else { return }
        try indexKey(of: table, counts, onReplaced: onReplaced)
    }
}
