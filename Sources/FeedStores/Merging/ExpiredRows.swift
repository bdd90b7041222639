import FeedModel
import FeedStaging

/// Rows that are too old (`expire` in `sources.toml`), and rows whose records say that they are deleted (`deleted_when`).
///
/// Rows of the feed that have expired are not merged, nor are the records within them, so that they do not come and go.
/// Rows of the store are deleted once everything else has been merged, with the rows that are mapped within them.
struct ExpiredRows {
    let merge: MergeContext

    // MARK: - Staged rows

    /// Takes rows that have expired out of the staged ones, and deletes the stored rows that they would have updated.
    func discardStaged() throws -> MergeCounts {
        try merge.retention.expiries.reduce(into: MergeCounts()) { counts, expiry in
            for part in merge.stack.parts where expiry.concerns(part) {
                let staged = part.table
                let table = try merge.table(of: staged)
                let isKnown = "SELECT 1 FROM \(table.sql) m WHERE \(merge.dialect.matches(staged, "m", "s"))"
                let isKept =
                    staged.updates(expiry.column) || staged.keyColumns.isEmpty ? "" : " AND NOT EXISTS (\(isKnown))"
                guard let hasExpired = try merge.dialect.hasExpired(expiry, table, "s"),
                    let discarded = try discard(part, where: hasExpired + isKept)
                else { continue }
                merge.state.expired[staged.name, default: []].append(discarded)
                counts.skipped +=
                    try merge.count(discarded)
                    + discardRecords(
                        within: discarded, of: part, expiry.descendants)
                guard case .key = staged.identity, staged.updates(expiry.column) else { continue }
                counts += try delete(
                    expiry.descendants, table,
                    from:
                        "\(discarded) s \(merge.dialect.join) \(table.sql) m ON \(merge.dialect.matches(staged, "m", "s"))"
                )
            }
        }
    }

    /// Takes rows whose records say that they are deleted out of the staged ones, with the records within them, and deletes
    /// the stored rows that have their keys.
    func deleteMarked() throws -> MergeCounts {
        try merge.stack.parts.filter { $0.table.marksDeleted && $0.counts.rows > 0 }.reduce(into: MergeCounts()) {
            counts, part in
            guard let discarded = try discard(part, where: "s.\(StagingTable.deleted) = 1") else { return }
            let table = try merge.table(of: part.table)
            let inner = merge.retention.deletedWithin[table.name.lowercased()] ?? []
            _ = try discardRecords(within: discarded, of: part, inner)
            let mark = try merge.deletionMark(of: table)
            var conditions = [merge.dialect.matches(part.table, "m", "s")]
            for entry in part.table.scope.sorted(by: { $0.key < $1.key }) {
                conditions.append("m.\(try table.needed(entry.key).sql) = \(merge.dialect.literal(entry.value))")
            }
            if let mark { conditions.append("m.\(mark) IS NULL") }
            let rows = "\(discarded) s \(merge.dialect.join) \(table.sql) m ON \(conditions.joined(separator: " AND "))"
            guard let deleted = try list(table, from: rows) else { return }
            if let mark {
                try addToLimits(deleted, part.table.scope)
                counts += try SoftDeletion(merge: merge).mark(deleted, mark)
            } else {
                counts += try delete(deleted, with: inner) { try addToLimits($0, part.table.scope) }
            }
        }
    }

    /// Counts rows that are about to be deleted towards the limit of their table.
    private func addToLimits(_ rows: RowList, _ scope: [String: String]) throws {
        merge.state.changes.add(
            deleted: try merge.count(rows.stored(merge.dialect)),
            of: ScopedRows(table: rows.table.name, scope: scope), readsAll: false)
    }

    /// Moves staged rows to a work table.
    ///
    /// - Returns: that table; nil without one.
    private func discard(_ part: StagedStack.Part, where condition: String) throws -> String? {
        let staged = merge.dialect.staged(part.table)
        let discarded = try merge.driver.makeTable(
            merge.uniqueName("expired"), merge.dialect.definition(of: part.table))
        let count = try merge.driver.execute(
            SQLText("INSERT INTO \(discarded) SELECT s.* FROM \(staged) s WHERE \(condition)").once)
        guard count > 0 else { return nil }
        part.counts.rows -= count
        let row = StagingTable.row
        try merge.driver.execute("DELETE FROM \(staged) WHERE \(row) IN (SELECT \(row) FROM \(discarded))")
        return discarded
    }

    /// Discards the staged records within discarded ones, and what else is staged for these.
    ///
    /// - Parameter discarded: the table of the discarded rows of a part.
    /// - Returns: the number of the records within.
    private func discardRecords(
        within discarded: String, of part: StagedStack.Part, _ descendants: [Retention.Expiry.Descendant]
    ) throws -> Int {
        var number = 0
        var open = [(part: part, rows: discarded)]
        while let outer = open.popLast() {
            for inner in merge.stack.parts where inner.counts.rows > 0 && !inner.table.isLookUp {
                let links = descendants.links(from: inner.table, to: outer.part.table)
                let conditions = links.map { isWithin($0, inner.table, outer.part, outer.rows) }
                guard !conditions.isEmpty, let rows = try discard(inner, where: conditions.joinedConditions("OR"))
                else { continue }
                if !links.contains(.sameKey) { number += try merge.count(rows) }
                open.append((inner, rows))
            }
        }
        return number
    }

    private func isWithin(
        _ link: Retention.Expiry.Link, _ inner: StagingTable, _ outer: StagedStack.Part, _ rows: String
    ) -> String {
        switch link {
        case .record(let column):
            let duplicates =
                outer.counts.hasDuplicates
                ? " UNION ALL SELECT t.record FROM \(merge.dialect.duplicates(of: outer.table)) t JOIN \(rows) r "
                    + "ON r.\(StagingTable.row) = t.row" : ""
            return "s.\(column.sqlIdentifier) IN (SELECT \(StagingTable.record) FROM \(rows)\(duplicates))"
        case .value(let column, let key):
            return "s.\(column.sqlIdentifier) IN (SELECT \(key.sqlIdentifier) FROM \(rows))"
        case .sameKey:
            return "EXISTS (SELECT 1 FROM \(rows) r WHERE \(merge.dialect.matches(inner, "s", "r")))"
        }
    }

    // MARK: - Stored rows

    /// Deletes the stored rows that have expired.
    func deleteStored() throws -> MergeCounts {
        try merge.retention.expiries.reduce(into: MergeCounts()) { counts, expiry in
            guard let table = try merge.driver.table(expiry.table),
                let isExpired = try merge.dialect.isExpired(expiry, table, "m")
            else { return }
            let expired = try delete(expiry.descendants, table, from: "\(table.sql) m WHERE \(isExpired)")
            if expired.deleted > 0 { merge.state.expiredTables.insert(table.name) }
            counts += expired
        }
    }

    /// Deletes rows of the store, `m`, and the rows mapped within them.
    private func delete(
        _ descendants: [Retention.Expiry.Descendant], _ table: StoredTable, from rows: String
    ) throws -> MergeCounts {
        try list(table, from: rows).map { try delete($0, with: descendants) } ?? MergeCounts()
    }

    /// - Parameter willDelete: called with each list of rows before its deletion.
    private func delete(
        _ old: RowList, with descendants: [Retention.Expiry.Descendant], willDelete: (RowList) throws -> Void = { _ in }
    ) throws -> MergeCounts {
        var all = [old]
        for descendant in descendants {
            guard let parent = all.last(where: { $0.table.name.lowercased() == descendant.parent.lowercased() }),
                let child = try merge.driver.table(descendant.table), parent.table.primaryKey.count == 1,
                let column = child.column(descendant.column)
            else { continue }
            let key = try parent.table.needed(parent.table.primaryKey[0])
            let value = merge.dialect.value(of: column, "m", comparedWith: key)
            let found = try list(
                child,
                from: """
                    \(parent.name) g \(merge.dialect.join) \(parent.table.sql) p ON \(parent.isRow("p", "g"))
                    \(merge.dialect.join) \(child.sql) m ON \(value) = p.\(key.sql)
                    """)
            if let found { all.append(found) }
        }
        // Those within go first.
        return try all.reversed().reduce(into: MergeCounts()) { counts, rows in
            try willDelete(rows)
            counts += try merge.driver.refusing(in: rows.table.name) { try Deletions(merge: merge).delete(rows) }
        }
    }

    /// Lists rows of a FROM clause, in which the store's are `m`; returns nil without one.
    private func list(_ table: StoredTable, from rows: String) throws -> RowList? {
        let list = try merge.makeList(merge.uniqueName("old"), of: table, .delete)
        return try merge.append(to: list, from: SQLText(rows).once) > 0 ? list : nil
    }
}
