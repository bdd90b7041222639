import FeedModel
import FeedStaging
import FeedStores
import StoreSQL

/// The new, the different and the missing rows of a table, found by one join.
///
/// It takes the place of two passes where the feed mirrors the whole table, and where nothing but the merge's own
/// statements changes the table's rows between the deletions and the upserts: the table has no foreign keys and no
/// triggers, and the stack has no other rows.
struct WholeDifference {
    let difference: Difference
    /// The rows that the feed lacks.
    let missing: RowList
    let missingCount: Int

    /// Finds the rows; nil where two passes are to find them.
    init?(_ merge: MergeContext) throws {
        let dialect = merge.dialect
        let parts = merge.stack.parts.filter { $0.counts.rows > 0 || $0.table.sync == .mirror }
        guard merge.stack.path != nil, parts.count == 1, let part = parts.first, part.table.isMirroredWhole,
            merge.mirrors.allSatisfy({ $0.table == part.table.table.name && $0.scope.isEmpty && $0.window == nil }),
            merge.retention.expiries.isEmpty, merge.stack.skipped.isEmpty
        else { return nil }
        let table = try merge.table(of: part.table)
        guard table.parents.isEmpty, table.children.isEmpty, !table.checksOwnRows,
            try merge.deletionMark(of: table) == nil, try !merge.driver.hasTriggers(table),
            try merge.driver.isTrue("SELECT EXISTS (SELECT 1 FROM \(table.sql))")
        else { return nil }
        var difference = Difference(
            part: part, stored: table, number: 0,
            name: try merge.driver.makeTable("difference", dialect.differenceDefinition),
            new: 0, updated: 0)
        missing = try merge.makeList("missing", of: table, .delete, isUnique: false)
        let statement = try dialect.insertWholeDifference(
            difference, missing, key: merge.changelogKey(of: table, "m"),
            DifferenceOptions(isExact: merge.driver.isExact))
        guard let statement else { return nil }
        let differing = try merge.driver.execute(statement)
        difference.new = try merge.count("\(difference.name) WHERE is_new")
        difference.updated = differing - difference.new
        missingCount = try merge.count(missing.name)
        self.difference = difference
    }
}

extension StagingTable {
    /// True if the rows of the feed are all that the table is to have.
    fileprivate var isMirroredWhole: Bool {
        sync == .mirror && !keyColumns.isEmpty && scope.isEmpty && window == nil && within == nil && references.isEmpty
    }
}
