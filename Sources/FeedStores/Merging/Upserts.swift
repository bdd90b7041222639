import FeedModel
import FeedStaging

/// New and different rows, written to the store's table.
struct Upserts {
    let merge: MergeContext

    /// Merges parts of one table whose rows may share keys.
    func write(_ group: [StagedStack.Part]) throws -> MergeCounts {
        let table = try merge.table(of: group[0].table)
        let parts = group.count == 1 ? group : try Overlay(merge: merge, parts: group).combined(of: table)
        if parts.count == 1, let inserted = try insertAll(parts[0], table) {
            merge.state.changes.add(inserted: inserted, of: parts[0])
            return MergeCounts(inserted: inserted)
        }
        let differences = try parts.enumerated().map { try difference(of: $1, table, number: $0) }
        try note(differences)
        var counts = MergeCounts()
        for difference in differences {
            counts.inserted += difference.restoredWhole
            counts.unchanged += difference.unchanged
        }
        // A known row may come to refer to a new one of its own table, which then has to be there. Otherwise, a value
        // that one row gives up may be taken by another.
        if table.checksOwnRows { try insert(differences, remaining: differences[...], &counts) }
        for index in differences.indices where differences[index].updated > 0 {
            counts += try update(differences[index], of: differences[index...])
        }
        if !table.checksOwnRows { try insert(differences, remaining: [], &counts) }
        return counts
    }

    /// Reports and keeps the rows before any statement changes them.
    private func note(_ differences: [Difference]) throws {
        let report = ChangeReport(merge: merge)
        let scopes = ScopeTracker(merge: merge)
        for difference in differences { try report.updates(of: difference) }
        for difference in differences where difference.updated > 0 {
            try scopes.noteScopeExits(of: difference)
            try merge.images?.add(
                difference.stored, from: difference.storedRows(merge.dialect) + " WHERE NOT d.is_new")
        }
        for difference in differences {
            merge.state.changes.add(difference.counts, of: difference.part)
            try Cycles(merge: merge).noteWritten(
                difference.table, isNew: "d.is_new", from: difference.rows(merge.dialect))
        }
    }

    private func insert(
        _ differences: [Difference], remaining: ArraySlice<Difference>, _ counts: inout MergeCounts
    ) throws {
        for difference in differences where difference.new > 0 {
            counts.inserted += try merge.driver.insert(
                Insertion(
                    part: difference.part, table: difference.stored, count: difference.new,
                    rows: difference.rows(merge.dialect) + " WHERE d.is_new", order: "d.id", remaining: remaining),
                in: merge)
        }
    }

    /// Inserts every row of a part that need not be compared; returns nil if the rows must be compared.
    private func insertAll(_ part: StagedStack.Part, _ table: StoredTable) throws -> Int? {
        let staged = part.table
        let rows = Insertion(
            part: part, table: table, count: part.counts.rows, rows: "\(merge.dialect.staged(staged)) s",
            order: part.order)
        if case .none = staged.identity { return try merge.driver.insert(rows, in: merge) }
        // For an empty table, a large stack is not compared.
        guard merge.stack.path != nil, case .key = staged.identity,
            try !merge.driver.isTrue("SELECT EXISTS (SELECT 1 FROM \(table.sql))")
        else { return nil }
        try Cycles(merge: merge).noteWritten(staged, isNew: merge.dialect.literal(true), from: rows.rows)
        return try merge.driver.insert(rows, in: merge)
    }

    /// Finds the rows of a part that are new or differ.
    ///
    /// - Parameter number: distinguishes the part from others of the same table.
    private func difference(of part: StagedStack.Part, _ table: StoredTable, number: Int) throws -> Difference {
        if let difference = merge.takeWholeDifference(of: table) { return difference }
        let dialect = merge.dialect
        let name = try merge.driver.makeTable(
            number == 0 ? "difference" : "difference_\(number)", dialect.differenceDefinition)
        let mark = try merge.deletionMark(of: table)
        var difference = Difference(
            part: part, stored: table, number: number, name: name, new: 0, updated: 0)
        if let mark, part.table.identity == .row {
            difference.restoredWhole = try SoftDeletion(merge: merge).restore(
                table, mark, where: dialect.isStaged(part.table, table), as: part.table)
        }
        let options = DifferenceOptions(deletionMark: mark, isExact: merge.driver.isExact)
        let differing = try merge.driver.execute(
            dialect.insertDifferences(into: name, of: part, table, options))
        guard differing > 0 else { return difference }
        difference.new = try merge.count("\(name) WHERE is_new")
        difference.updated = differing - difference.new
        if mark != nil { difference.restored = try merge.count("\(name) WHERE is_restored") }
        return difference
    }

    /// Updates the rows that differ.
    ///
    /// - Parameter remaining: this difference, and later ones of the same table.
    private func update(_ difference: Difference, of remaining: ArraySlice<Difference>) throws -> MergeCounts {
        let cascades = Cascades(merge: merge)
        let cascaded = try cascades.rows(updatedWith: difference)
        for rows in cascaded { try merge.images?.add(rows) }
        let reportUpdates = try ChangeReport(merge: merge).deletions(cascaded)
        let updated = try merge.driver.update(difference, of: remaining, in: merge)
        try merge.images?.addNewKeys(of: difference)
        try reportUpdates()
        var counts = try cascades.log(cascaded)
        counts.updated += updated - difference.restored
        counts.inserted += difference.restored
        // Children that were merged before have been changed along with their parents. They are merged again.
        for rows in cascaded where try merge.count(rows.name) > 0 {
            merge.state.cascadedTablesAfterMerge.insert(rows.table.name)
        }
        return counts
    }
}

extension StagedStack.Part {
    /// The order in which staged rows, `s`, are inserted: that of the key where they are sorted by it.
    package var order: String {
        guard isSorted, !counts.hasAscendingKeys, !table.keyColumns.isEmpty else { return "s.\(StagingTable.row)" }
        return table.keyColumns.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
    }
}
