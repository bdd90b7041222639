import FeedModel
import FeedStaging

/// The new, the different and the missing rows of a table that a feed mirrors whole, found at once.
///
/// It takes the place of two passes, one before the deletions and one before the upserts. It counts as long as nothing but
/// the deletion of the table's own missing rows has changed them since: no table of the stack has triggers, and no foreign
/// key has changed rows along with others.
struct WholeDifference {
    let difference: Difference
    /// The rows that the feed lacks; nil without one.
    let missing: (rows: RowList, count: Int)?

    /// Finds the rows; nil if two passes are to find them.
    init?(_ merge: MergeContext, of table: StoredTable) throws {
        let parts = merge.stack.parts.filter { $0.table.table.name == table.name && $0.counts.rows > 0 }
        guard merge.stack.path != nil, parts.count == 1, let part = parts.first, part.table.isMirroredWhole,
            merge.mirrors.allSatisfy({ $0.table != table.name || ($0.scope.isEmpty && $0.window == nil) }),
            merge.retention.expiries.isEmpty, merge.stack.skipped.isEmpty, try merge.deletionMark(of: table) == nil,
            try !merge.stackHasTriggers(),
            try merge.driver.isTrue("SELECT EXISTS (SELECT 1 FROM \(table.sql))")
        else { return nil }
        let dialect = merge.dialect
        var difference = Difference(
            part: part, stored: table, number: 0,
            name: try merge.driver.makeTable(merge.uniqueName("difference"), dialect.differenceDefinition),
            new: 0, updated: 0)
        let list = try merge.makeList("missing", of: table, .delete, isUnique: false)
        let options = DifferenceOptions(isExact: merge.driver.isExact)
        let statement = try dialect.insertWholeDifference(
            difference, list, key: merge.changelogKey(of: table, "m"), options)
        let differing = try merge.driver.execute(
            statement ?? dialect.insertDifferences(into: difference.name, of: part, table, options))
        difference.new = try merge.count("\(difference.name) WHERE is_new")
        difference.updated = differing - difference.new
        self.difference = difference
        var missing = 0
        if statement != nil {
            missing = try merge.count(list.name)
        } else if try merge.count(table.sql) > part.counts.rows - difference.new {
            // Each staged row that is not new has a row of its own in the store.
            try merge.indexForLookUps(part)
            missing = try merge.append(
                to: list, from: "\(table.sql) m WHERE NOT \(dialect.isStaged(part.table, table))")
        }
        if missing > 0 { try merge.driver.analyze(list.name) }
        self.missing = missing > 0 ? (list, missing) : nil
    }
}

extension StagingTable {
    /// True if the table should have exactly the rows of the feed.
    fileprivate var isMirroredWhole: Bool {
        sync == .mirror && !keyColumns.isEmpty && scope.isEmpty && window == nil && within == nil && references.isEmpty
    }
}

extension MergeContext {
    fileprivate func stackHasTriggers() throws -> Bool {
        try Set(stack.parts.map(\.table.table.name) + mirrors.map(\.table)).contains { name in
            try driver.table(name).map(driver.hasTriggers) ?? false
        }
    }

    /// Returns the rows of a table that differ, where they have been found and nothing has changed since.
    func takeWholeDifference(of table: StoredTable) -> Difference? {
        guard let whole = state.wholeDifferences.removeValue(forKey: table.id), state.cascadedTables.isEmpty,
            state.cascadedTablesAfterMerge.isEmpty
        else { return nil }
        return whole.difference
    }
}
