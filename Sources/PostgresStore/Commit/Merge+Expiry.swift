import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

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
                let isKnown = try "SELECT 1 FROM \(stored(table)) m WHERE \(table.matches("m", "s"))"
                let isKept =
                    expiry.isUpdated(by: table) || table.keyColumns.isEmpty ? "" : " AND NOT EXISTS (\(isKnown))"
                guard let isExpired = try expiry.condition(on: details(of: table.table.name), "s"),
                    let skipped = try skip(part, where: isExpired + isKept)
                else { continue }
                counts.skipped += try count(skipped) + skipRecords(in: part, skipped, of: expiry, among: stack)
                guard case .key = table.identity, expiry.isUpdated(by: table) else { continue }
                counts += try delete(
                    expiry, details(of: table.table.name),
                    from: "\(skipped) s JOIN \(stored(table)) m ON \(table.matches("m", "s"))")
            }
        }
    }

    /// Deletes the stored rows that have expired.
    func deleteExpiredRows() throws -> MergeCounts {
        try retention.expiries.reduce(into: MergeCounts()) { counts, expiry in
            guard let table = try tables.table(expiry.table), let rows = try expiry.rows(of: table) else {
                return
            }
            counts += try delete(expiry, table, from: rows)
        }
    }

    /// Returns conditions that rows of the store, `m`, are not left to their expiry.
    func isNotExpired(_ table: TableDetails, _ scope: [String: String]) throws -> [String] {
        try retention.expiries.filter { $0.table.lowercased() == table.name.lowercased() && $0.scope == scope }
            .compactMap { try $0.condition(on: table, "m") }.map { "(\($0)) IS NOT TRUE" }
    }

    // MARK: - Staged rows

    /// Moves staged rows to a table of the merge.
    ///
    /// - Returns: that table; nil where there are none.
    func skip(_ part: StagedStack.Part, where condition: String) throws -> String? {
        let skipped = try workTable("skipped_\(progress.number())", "LIKE \(part.table.staged)")
        let found = try connection.execute(
            """
            WITH skipped AS (DELETE FROM \(part.table.staged) s WHERE \(condition) RETURNING s.*)
            INSERT INTO \(skipped) SELECT * FROM skipped
            """
        ).affectedRows
        part.counts.rows -= found
        return found > 0 ? skipped : nil
    }

    // MARK: - Stored rows

    /// Deletes rows of the store, `m`, and those that are mapped within them.
    private func delete(_ expiry: Retention.Expiry, _ table: TableDetails, from rows: String) throws -> MergeCounts {
        guard let old = try listed(table, from: rows) else { return MergeCounts() }
        var all = [old]
        for descendant in expiry.descendants {
            guard let parent = all.last(where: { $0.table.name.lowercased() == descendant.parent.lowercased() }),
                let child = try tables.table(descendant.table), parent.table.primaryKey.count == 1,
                let column = child.column(descendant.column)
            else { continue }
            let key = try parent.table.needed(parent.table.primaryKey[0])
            let found = try listed(
                child,
                from: """
                    \(parent.name) g JOIN \(parent.table.sql) p ON \(parent.isRow("p", "g"))
                    JOIN \(child.sql) m ON \(column.value("m", comparedWith: key)) = p.\(key.sql)
                    """)
            if let found { all.append(found) }
        }
        // Those within go first.
        return try all.reversed().reduce(into: MergeCounts()) { counts, rows in
            counts += try refusing(in: rows.table.name) { try delete(rows) }
        }
    }

    /// Lists rows of a FROM clause, in which the store's are `m`; returns nil where there are none.
    func listed(_ table: TableDetails, from rows: String) throws -> ChangedRows? {
        let list = ChangedRows(
            table: table, change: .delete,
            name: try workTable("old_\(progress.number())", ChangedRows.definition(table, isUnique: true)))
        let found = try connection.execute(
            """
            INSERT INTO \(list.name) (\(list.located.joined(separator: ", ")), key)
            SELECT \(table.locator.map { "m." + $0.sql }.joined(separator: ", ")), \(journalKey(of: table, "m"))
            FROM \(rows) ON CONFLICT DO NOTHING
            """
        ).affectedRows
        return found > 0 ? list : nil
    }
}

extension Merge: RecordSkipping {
    func twins(of table: StagingTable) -> String { table.stagedTwins }
    func isSame(_ table: StagingTable, _ row: String, _ other: String) -> String { table.matches(row, other) }
}
