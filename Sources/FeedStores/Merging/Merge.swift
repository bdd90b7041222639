package import FeedModel
package import FeedStaging
import Foundation

/// The merge of a run's staged rows into the store's tables, with a few set-wise statements per table, inside the
/// caller's transaction.
///
/// Deletions come first, from the last table to the first, so that a row which makes room for another does so in time.
/// Then new and different rows are written, from the first table to the last: parents before their children. One pass
/// per table finds these rows and notes them; from there they are written to the store's table and to the changelog.
/// What could not be done before is done at the end: references around a circle of tables, deletions of parents that
/// rows have left, rows that have expired.
///
/// Values that change from run to run are bound, so that the statements are the same for every stack of one shape.
package struct Merge {
    package let context: MergeContext
    /// Rows to delete, independent of the staged ones.
    private let removals: [Removal]

    package init(_ context: MergeContext, removals: [Removal] = []) {
        self.context = context
        self.removals = removals
    }

    /// Merges the stack. Its rows are in their staging tables, and stay there.
    ///
    /// - Throws: ``StoreError`` for rows that cannot be merged, and the errors of the database.
    package func execute() throws -> MergeCounts {
        var counts = MergeCounts()
        let state = context.state
        try context.driver.begin(context)
        try context.retention.check(context.stack)
        let parts = try orderedParts()
        let references = References(merge: context)
        let cycles = Cycles(merge: context)
        let deletions = Deletions(merge: context)
        let expiry = ExpiredRows(merge: context)
        try references.checkCircles(parts)
        counts += try expiry.discardStaged()
        counts += try expiry.deleteMarked()
        try cycles.prepare(parts)
        let late = context.stack.tablesIdentifiedLate
        for part in parts where part.counts.rows > 0 && !part.table.references.isEmpty {
            try references.prepare(part, late: late)
        }
        counts += try deletions.delete(removals)
        counts += try deletions.deleteMissing { !late.contains($0) }
        let groups = parts.filter { $0.counts.rows > 0 }.groupedByKeys
        for (index, group) in groups.enumerated() {
            let table = group[0].table.table.name
            try context.driver.refusing(in: table) {
                for part in group { try references.resolve(part, among: parts) }
                if late.contains(table), !groups[(index + 1)...].contains(where: { $0[0].table.table.name == table }) {
                    counts += try deletions.deleteMissing { $0 == table }
                }
                counts += try Upserts(merge: context).write(group)
            }
            counts.replaced += group.reduce(0) { $0 + ($1.table.isLookUp ? 0 : $1.counts.replaced) }
        }
        for part in parts where part.counts.rows > 0 {
            counts += try context.driver.refusing(in: part.table.table.name) { try cycles.resolve(part, among: parts) }
        }
        try PostponedDeletions(merge: context).deleteAll()
        counts += state.counts
        counts += try writeAgain(groups)
        counts.unchanged = max(0, counts.unchanged)
        counts += try expiry.deleteStored()
        try context.driver.refusing(in: nil) { try context.driver.checkConstraints() }
        try context.images?.write()
        try context.driver.end()
        return counts
    }

    /// Merges rows once more that the feed has, but that were deleted or changed along with others: they are inserted
    /// again, or the database says why they cannot be. Appended rows are in the store, and must not be appended again.
    private func writeAgain(_ groups: [[StagedStack.Part]]) throws -> MergeCounts {
        var counts = MergeCounts()
        // They have been counted before.
        let changes = context.state.changes
        for group in groups
        where group[0].table.identity != .none
            && context.state.cascadedTablesAfterMerge.contains(group[0].table.table.name)
        {
            let table = group[0].table.table.name
            let again = try context.driver.refusing(in: table) { try Upserts(merge: context).write(group) }
            counts.inserted += again.inserted
            counts.updated += again.updated
            counts.unchanged -= again.inserted + again.updated
        }
        context.state.changes = changes
        return counts
    }

    /// Returns the parts, with those first whose rows others refer to: by the mapping, or by foreign keys of the store.
    private func orderedParts() throws -> [StagedStack.Part] {
        let parts = context.stack.partsByReference
        let places = Dictionary(grouping: parts.indices) { parts[$0].table.table.name }
        let names = try places.keys.reduce(into: [TableID: String]()) { $0[try context.table($1).id] = $1 }
        let ordered = try parts.ordered { part in
            let parents = try context.table(of: part.table).parents.compactMap { names[$0] }
            let referred = Set(parents + part.table.references.map(\.target.name))
            return referred.flatMap { places[$0] ?? [] }.sorted()
        }
        // Rows that need others for their identity come after these, whatever the foreign keys say.
        return ordered.isInOrder ? ordered : parts
    }

    // MARK: - Change limits

    /// Checks the changes against the limits, and the rows against the expectations.
    ///
    /// - Parameters:
    ///   - accepted: the accepted changes of the blocked run; nil without any.
    ///   - isAcceptedInAdvance: returns true if the commit may make any changes.
    /// - Throws: ``StoreError`` of the code `blocked`.
    package func check(
        _ limits: [ScopedRows: ChangeLimits], accepted: [ExceededLimit]? = nil,
        isAcceptedInAdvance: () throws -> Bool
    ) throws {
        try context.state.changes.check(
            limits, unmet: context.stack.unmet, accepted: accepted, count: count,
            isAcceptedInAdvance: isAcceptedInAdvance)
    }

    private func count(_ rows: ScopedRows) throws -> Int {
        let table = try context.table(rows.table)
        let scope = try rows.scope.sorted { $0.key < $1.key }.map { entry -> SQLText in
            "\(try table.needed(entry.key).sql) = \(bind: entry.value)"
        }
        let isThere = try context.deletionMark(of: table).map { [SQLText("\($0) IS NULL")] } ?? []
        return try context.driver.count("SELECT count(*) FROM \(table.sql)\((scope + isThere).whereClause)")
    }
}

/// Rows to delete on request, and not because a feed lacks them.
package struct Removal {
    package var table: StoredTable
    /// The work table of the rows' locators, `k0` ….
    package var name: String
}
