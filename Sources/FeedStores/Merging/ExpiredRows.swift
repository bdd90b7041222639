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
                counts += try deleteBeforeMerge(
                    expiry.descendants, table, from: discarded, where: [merge.dialect.matches(staged, "m", "s")])
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
            guard let mark else {
                counts += try deleteBeforeMerge(inner, table, from: discarded, where: conditions) {
                    try addToLimits($0, part.table.scope)
                }
                return
            }
            guard let deleted = try list(table, from: discarded, where: conditions) else { return }
            try addToLimits(deleted, part.table.scope)
            counts += try SoftDeletion(merge: merge).mark(deleted, mark)
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
                let isExpired = try merge.dialect.isExpired(expiry, table, "m"),
                let old = try list(table, from: "\(table.sql) m WHERE \(isExpired)")
            else { return }
            counts += try delete(withDescendants(of: old, expiry.descendants)) {
                try Deletions(merge: merge).delete($0)
            }
        }
    }

    /// Deletes rows of the store, `m`, that have the keys of discarded rows, `s`, and the rows mapped within them. A row
    /// within that the feed has elsewhere stays, and moves there. Its former parent is deleted once it has left.
    ///
    /// - Parameter willDelete: called with each list of rows before its deletion.
    private func deleteBeforeMerge(
        _ descendants: [Retention.Expiry.Descendant], _ table: StoredTable, from discarded: String,
        where conditions: [String], willDelete: (RowList) throws -> Void = { _ in }
    ) throws -> MergeCounts {
        let deletions = Deletions(merge: merge)
        func deleteNow(_ conditions: [String]) throws -> MergeCounts {
            guard let old = try list(table, from: discarded, where: conditions) else { return MergeCounts() }
            return try delete(withDescendants(of: old, descendants), willDelete) { try deletions.delete($0) }
        }
        guard let isElsewhere = try isElsewhere(in: table), let moves = try moves(descendants) else {
            return try deleteNow(conditions)
        }
        // They are inserted again.
        var counts = try deleteNow(conditions + [isElsewhere])
        if let old = try list(table, from: discarded, where: conditions + ["NOT \(isElsewhere)"]) {
            counts += try delete(withDescendants(of: old, descendants, except: moves), willDelete) {
                try deletions.deleteWhenPossible($0)
            }
        }
        return counts
    }

    /// Deletes lists of rows, the last ones first.
    private func delete(
        _ lists: [RowList], _ willDelete: (RowList) throws -> Void = { _ in },
        _ delete: (RowList) throws -> MergeCounts
    ) throws -> MergeCounts {
        try lists.reversed().reduce(into: MergeCounts()) { counts, rows in
            try willDelete(rows)
            counts += try merge.driver.refusing(in: rows.table.name) { try delete(rows) }
        }
    }

    /// Returns a list of rows and those of the rows mapped within them, parents first.
    ///
    /// - Parameter others: conditions on rows within, `m`, that are not listed.
    private func withDescendants(
        of old: RowList, _ descendants: [Retention.Expiry.Descendant],
        except others: [Retention.Expiry.Descendant: String] = [:]
    ) throws -> [RowList] {
        var all = [old]
        for descendant in descendants {
            guard let parent = all.last(where: { $0.table.name.lowercased() == descendant.parent.lowercased() }),
                let child = try merge.driver.table(descendant.table), parent.table.primaryKey.count == 1,
                let column = child.column(descendant.column)
            else { continue }
            let key = try parent.table.needed(parent.table.primaryKey[0])
            let value = merge.dialect.value(of: column, "m", comparedWith: key)
            let isFound = ["\(value) = p.\(key.sql)"] + (others[descendant].map { ["NOT \($0)"] } ?? [])
            let found = try list(
                child,
                from: """
                    \(parent.name) g \(merge.dialect.join) \(parent.table.sql) p ON \(parent.isRow("p", "g"))
                    \(merge.dialect.join) \(child.sql) m ON \(isFound.joinedConditions("AND"))
                    """)
            if let found { all.append(found) }
        }
        return all
    }

    private func list(_ table: StoredTable, from discarded: String, where conditions: [String]) throws -> RowList? {
        try list(
            table,
            from: "\(discarded) s \(merge.dialect.join) \(table.sql) m ON \(conditions.joinedConditions("AND"))")
    }

    /// Returns the conditions that the feed has rows elsewhere; nil if some are unknown.
    private func moves(_ descendants: [Retention.Expiry.Descendant]) throws -> [Retention.Expiry.Descendant: String]? {
        var found: [Retention.Expiry.Descendant: String] = [:]
        for descendant in descendants {
            guard let table = try merge.driver.table(descendant.table) else { continue }
            guard let isElsewhere = try isElsewhere(in: table, setting: descendant.column) else { return nil }
            found[descendant] = isElsewhere
        }
        return found
    }

    /// Returns the condition that a row of the store, `m`, is staged; nil if references identify staged rows, which are not
    /// looked up yet.
    ///
    /// - Parameter column: a column that each staged row has to update, or else the result is nil.
    private func isElsewhere(in table: StoredTable, setting column: String? = nil) throws -> String? {
        let parts = merge.stack.parts.filter {
            $0.table.table.name == table.name && $0.counts.rows > 0 && $0.table.identity != .none
        }
        let areKnown = parts.map(\.table).allSatisfy { staged in
            !staged.isIdentifiedByReference && (column.map { staged.supplies($0) && staged.updates($0) } ?? true)
        }
        guard areKnown else { return nil }
        guard !parts.isEmpty else { return merge.dialect.literal(false) }
        let conditions = try parts.map { part in
            try merge.indexForLookUps(part)
            return merge.dialect.isStaged(part.table, table)
        }
        return "(\(conditions.joinedConditions("OR")))"
    }

    /// Lists rows of a FROM clause, in which the store's are `m`; returns nil without one.
    private func list(_ table: StoredTable, from rows: String) throws -> RowList? {
        let list = try merge.makeList(merge.uniqueName("old"), of: table, .delete)
        return try merge.append(to: list, from: SQLText(rows).once) > 0 ? list : nil
    }
}
