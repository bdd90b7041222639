import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Rows that are too old (`expire` in `sources.toml`).
///
/// Rows of the feed that have expired are not merged, nor are the records within them, so that they do not come and go.
/// Rows of the store are deleted once everything else has been merged, with the rows that are mapped within them.
extension Merge {
    /// Takes rows that have expired out of the staged ones, and deletes the stored rows that they would have updated.
    func skipExpiredRows() throws -> MergeCounts {
        try retention.expiries.reduce(into: MergeCounts()) { counts, expiry in
            for part in stack.parts where expiry.concerns(part) {
                let table = part.table
                let isKnown = "SELECT 1 FROM \(table.qualifiedTable) m WHERE \(table.matches("m", "s"))"
                let isKept =
                    expiry.isUpdated(by: table) || table.keyColumns.isEmpty ? "" : " AND NOT EXISTS (\(isKnown))"
                guard let isExpired = try expiry.condition(on: table.table, "s"),
                    let skipped = try skip(part, where: isExpired + isKept)
                else { continue }
                counts.skipped += try count(skipped) + skipRecords(in: part, skipped, of: expiry, among: stack)
                guard case .key = table.identity, expiry.isUpdated(by: table) else { continue }
                counts += try delete(
                    expiry, table.table,
                    from: "\(skipped) s CROSS JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s"))")
            }
        }
    }

    /// Deletes the stored rows that have expired.
    func deleteExpiredRows() throws -> MergeCounts {
        try retention.expiries.reduce(into: MergeCounts()) { counts, expiry in
            guard let table = try TableInfo(db, table: expiry.table, schema: "main"),
                let rows = try expiry.rows(of: table)
            else {
                return
            }
            counts += try delete(expiry, table, from: rows)
        }
    }

    /// Returns conditions that rows of the store, `m`, are not left to their expiry.
    func isNotExpired(_ table: TableInfo, _ scope: [String: String]) throws -> [String] {
        try retention.expiries.filter { $0.table.lowercased() == table.name.lowercased() && $0.scope == scope }
            .compactMap { try $0.condition(on: table, "m") }.map { "(\($0)) IS NOT TRUE" }
    }

    // MARK: - Staged rows

    /// Moves staged rows to a table of the merge.
    ///
    /// - Returns: that table; nil where there are none.
    func skip(_ part: StagedStack.Part, where condition: String) throws -> String? {
        let table = part.table
        let skipped = try workTable(
            "skipped_\(progress.number())_\(Fingerprint.hexadecimal(table.definition))", table.definition)
        progress.tablesToEmpty.append(skipped)
        try db.execute(sql: "INSERT INTO \(skipped) SELECT s.* FROM \(table.qualifiedName) s WHERE \(condition)")
        guard db.changesCount > 0 else { return nil }
        part.counts.rows -= db.changesCount
        let row = StagingTable.row
        try db.execute(sql: "DELETE FROM \(table.qualifiedName) WHERE \(row) IN (SELECT \(row) FROM \(skipped))")
        return skipped
    }

    func count(_ rows: String) throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM \(rows)") ?? 0 }

    // MARK: - Stored rows

    /// Deletes rows of the store, `m`, and those that are mapped within them.
    private func delete(_ expiry: Retention.Expiry, _ table: TableInfo, from rows: String) throws -> MergeCounts {
        guard let old = try listed(table, from: rows) else { return MergeCounts() }
        var all = [old]
        for descendant in expiry.descendants {
            guard let parent = all.last(where: { $0.table.name.lowercased() == descendant.parent.lowercased() }),
                let child = try TableInfo(db, table: descendant.table, schema: "main"),
                parent.table.primaryKey.count == 1, child.column(descendant.column) != nil
            else { continue }
            let key = parent.table.primaryKey[0].sqlIdentifier
            let found = try listed(
                child,
                from: """
                    \(parent.name) g CROSS JOIN main.\(parent.table.name.sqlIdentifier) p ON \(parent.isRow("p", "g"))
                    CROSS JOIN main.\(child.name.sqlIdentifier) m ON m.\(descendant.column.sqlIdentifier) = p.\(key)
                    """)
            if let found { all.append(found) }
        }
        // Those within go first.
        return try all.reversed().reduce(into: MergeCounts()) { $0 += try delete($1) }
    }

    /// Lists rows of a FROM clause, in which the store's are `m`; returns nil where there are none.
    func listed(_ table: TableInfo, from rows: String) throws -> ChangedRows? {
        let located = ChangedRows.located(table).joined(separator: ", ")
        let list = try workTable(
            "old_\(progress.number())_\(table.locator.count)", "\(located), key, PRIMARY KEY (\(located))")
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO \(list)
                SELECT \(table.locator.map { "m." + $0 }.joined(separator: ", ")), \(table.journalKey("m", among: stack)) FROM \(rows)
                """)
        return db.changesCount > 0 ? ChangedRows(table: table, change: .delete, name: list) : nil
    }
}

extension Merge: RecordSkipping {
    func twins(of table: StagingTable) -> String { table.twins }
    func isSame(_ table: StagingTable, _ row: String, _ other: String) -> String { table.matches(row, other) }
}
