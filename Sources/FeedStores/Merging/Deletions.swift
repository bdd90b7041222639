import FeedModel
import FeedStaging

/// The deletion of rows that the feed no longer has.
///
/// Children go before their parents. A parent that staged rows may leave is deleted at the end, so that it takes none of
/// them along.
struct Deletions {
    let merge: MergeContext

    /// A mirror: the rows of a scope, or of the parents that the run has sent.
    private struct Mirror: Hashable {
        var rows: MirroredRows
        var within: RowShape.Within?
    }

    /// Deletes named rows, children before their parents.
    func delete(_ removals: [Removal]) throws -> MergeCounts {
        let ordered = removals.ordered { removal in
            let children = Set(removal.table.children.map(\.child))
            return removals.indices.filter { children.contains(removals[$0].table.id) }
        }
        return try ordered.reduce(into: MergeCounts()) { counts, removal in
            try merge.driver.refusing(in: removal.table.name) {
                let rows = try merge.makeList("removed", of: removal.table, .delete, isUnique: false)
                let isRow = rows.isRow("m", "r")
                try merge.append(
                    to: rows, from: "\(removal.name) r \(merge.dialect.join) \(removal.table.sql) m ON \(isRow)")
                try merge.driver.analyze(rows.name)
                counts += try deleteWhenPossible(rows)
            }
        }
    }

    /// Deletes the missing rows of the tables that a condition names, by their names.
    func deleteMissing(in isConcerned: (String) -> Bool) throws -> MergeCounts {
        try mirrored().filter { isConcerned($0.table.name) }.reversed().reduce(into: MergeCounts()) { counts, entry in
            counts += try merge.driver.refusing(in: entry.table.name) {
                try deleteMissing(of: entry.table, entry.mirror)
            }
        }
    }

    private func deleteMissing(of table: StoredTable, _ mirror: Mirror) throws -> MergeCounts {
        guard !merge.stack.keepsAll(mirror.rows),
            let missing = try missingRows(of: table, mirror.rows, within: mirror.within)
        else { return MergeCounts() }
        if let mark = try merge.deletionMark(of: table) { return try SoftDeletion(merge: merge).mark(missing, mark) }
        var counts = try deleteChildren(of: missing, below: [])
        counts += try deleteWhenPossible(missing)
        return counts
    }

    /// Returns the mirrors, referenced tables first.
    private func mirrored() throws -> [(mirror: Mirror, table: StoredTable)] {
        var found: [(mirror: Mirror, table: StoredTable)] = []
        var seen: Set<Mirror> = []
        for part in merge.stack.parts where part.table.sync == .mirror {
            let rows = MirroredRows(
                table: part.table.table.name, scope: part.table.scope, window: part.table.window)
            let mirror = Mirror(rows: rows, within: part.table.within)
            if seen.insert(mirror).inserted { found.append((mirror, try merge.table(of: part.table))) }
        }
        for empty in merge.mirrors {
            guard let table = try merge.driver.table(empty.table) else { continue }
            let mirror = Mirror(rows: MirroredRows(table: table.name, scope: empty.scope, window: empty.window))
            if seen.insert(mirror).inserted { found.append((mirror, table)) }
        }
        let places = Dictionary(grouping: found.indices) { found[$0].table.id }
        return found.ordered { entry in entry.table.parents.flatMap { places[$0] ?? [] }.sorted() }
    }

    /// Returns the rows that the feed lacks; nil without one.
    private func missingRows(
        of table: StoredTable, _ mirrored: MirroredRows, within: RowShape.Within?
    ) throws -> RowList? {
        if within == nil, let whole = try WholeDifference(merge, of: table) {
            merge.state.wholeDifferences[table.id] = whole
            let scope = ScopedRows(table: mirrored.table, scope: mirrored.scope)
            merge.state.changes.add(deleted: whole.missing?.count ?? 0, of: scope)
            return whole.missing?.rows
        }
        let missing = MissingRows(merge: merge, table: table)
        var conditions = try mirrored.scope.sorted { $0.key < $1.key }.map { entry -> SQLText in
            "m.\(try table.needed(entry.key).sql) = \(bind: entry.value)"
        }
        var others: [String] = []
        if let mark = try merge.deletionMark(of: table) {
            others.append("m.\(mark) IS NULL")
        } else {
            others += try missing.hasNoKeptRowsBelow()
        }
        if let window = mirrored.window { others.append(try missing.isInWindow(window, mirrored)) }
        others += try missing.isNotExpired(mirrored.scope) + missing.isNotStaged() + missing.isNotSkipped(mirrored)
        if let within {
            let references = References(merge: merge)
            others.append(try references.isChildOfStagedParent(within, table, scope: mirrored.scope))
        }
        if !others.isEmpty { conditions.append(SQLText(others.joinedConditions("AND"))) }
        let rows = try merge.makeList("missing", of: table, .delete, isUnique: false)
        let count = try merge.append(to: rows, from: merge.statement("\(table.sql) m\(conditions.whereClause)"))
        merge.state.changes.add(deleted: count, of: ScopedRows(table: mirrored.table, scope: mirrored.scope))
        guard count > 0 else { return nil }
        try merge.driver.analyze(rows.name)
        return rows
    }

    /// Deletes the mirrored rows within rows to delete, at any depth.
    ///
    /// - Parameter outer: the tables of the records that enclose the parents.
    private func deleteChildren(of parents: RowList, below outer: Set<TableID>) throws -> MergeCounts {
        guard let name = parents.table.primaryKey.first else { return MergeCounts() }
        let key = try parents.table.needed(name)
        let late = merge.stack.tablesIdentifiedLate
        let outer = outer.union([parents.table.id])
        var seen: Set<Mirror> = []
        return try merge.stack.parts.reduce(into: MergeCounts()) { counts, part in
            let staged = part.table
            let rows = MirroredRows(table: staged.table.name, scope: staged.scope)
            guard let within = staged.within, within.parent == parents.table.name else { return }
            // A row whose key names its parent is not staged where the parent is not. So it does not matter that the key of
            // a table that is identified late has values which are not known yet.
            let isLate = late.contains(staged.table.name)
            let isIdentifiedByParent = staged.identityColumns.contains { $0.lowercased() == within.column.lowercased() }
            guard !isLate || isIdentifiedByParent,
                seen.insert(Mirror(rows: rows, within: within)).inserted
            else { return }
            let table = try merge.table(of: staged)
            guard !outer.contains(table.id) else { return }
            let missing = MissingRows(merge: merge, table: table)
            let scope = try staged.scope.sorted { $0.key < $1.key }.map {
                "m.\(try table.needed($0.key).sql) = \(merge.dialect.literal($0.value))"
            }
            let conditions =
                isLate ? scope : try scope + missing.isNotStaged() + missing.isNotSkipped(rows)
            let isChild =
                "\(try merge.dialect.value(of: table.needed(within.column), "m", comparedWith: key)) = p.\(key.sql)"
            let children = try merge.makeList(merge.uniqueName("children"), of: table, .delete)
            let count = try merge.append(
                to: children,
                from: """
                    \(parents.name) g \(merge.dialect.join) \(parents.table.sql) p ON \(parents.isRow("p", "g"))
                    \(merge.dialect.join) \(table.sql) m ON \(isChild)\(conditions.whereClause)
                    """)
            guard count > 0 else { return }
            merge.state.changes.add(deleted: count, of: ScopedRows(table: rows.table, scope: rows.scope))
            counts += try deleteChildren(of: children, below: outer)
            counts += try deleteWhenPossible(children)
        }
    }

    /// Deletes rows, or postpones the deletion until other rows have left them.
    private func deleteWhenPossible(_ rows: RowList) throws -> MergeCounts {
        let postponed = PostponedDeletions(merge: merge)
        guard try postponed.mayBeLeft(rows.table) || postponed.hasChildren(of: rows.table) else {
            return try delete(rows)
        }
        try postponed.add(rows)
        return MergeCounts()
    }

    /// Deletes rows, and writes these and the rows changed along with them to the changelog.
    ///
    /// - Parameter reported: rows that have been reported already.
    func delete(_ rows: RowList, alreadyReported reported: RowList? = nil) throws -> MergeCounts {
        let cascades = Cascades(merge: merge)
        let cascaded = try cascades.rows(deletedWith: rows)
        let all = cascaded.isEmpty ? [rows] : cascaded
        for list in all { try merge.images?.add(list) }
        let reportUpdates = try ChangeReport(merge: merge).deletions(all, except: reported)
        let own = try merge.count(rows.name)
        let deleted = try merge.driver.delete(rows, with: cascaded, in: merge)
        // A trigger may keep some.
        let isWhole = deleted == own
        guard cascaded.isEmpty else {
            try reportUpdates()
            return try cascades.log(cascaded, adding: own, isWhole: isWhole)
        }
        try merge.log("delete", rows.table.name, key: "g.key", from: merge.deleted(rows, isWhole: isWhole))
        return MergeCounts(deleted: deleted)
    }
}

extension MergeContext {
    /// Returns a FROM clause for the listed rows, in their order, that the store no longer has. A trigger may have
    /// kept some.
    func deleted(_ rows: RowList, isWhole: Bool) -> SQLText {
        let isGone = " WHERE NOT EXISTS (SELECT 1 FROM \(rows.table.sql) m WHERE \(rows.isRow("m", "g")))"
        return "\(rows.name) g\(isWhole ? "" : isGone) ORDER BY g.id"
    }

    /// Keeps a statement prepared, unless it names the time of the commit.
    func statement(_ sql: SQLText) -> SQLText { retention.expiries.isEmpty ? sql : sql.once }
}
