package import FeedModel
package import FeedStores

/// The findings and the postponed work of a merge.
///
/// A class because the merge's steps share it; one merge uses it, on one thread.
package final class MergeState {
    /// Rows to be deleted once everything is in place, by their table.
    var postponed: [TableID: RowList] = [:]
    /// The counts of these deletions.
    var counts = MergeCounts()
    /// The rows that differ, by their table, where they have been found along with the missing ones.
    var wholeDifferences: [TableID: WholeDifference] = [:]
    /// The changes of each limited scope.
    package var changes = ScopeChanges()
    /// Tables whose rows foreign keys have deleted or changed along with those of another table.
    package var cascadedTables: Set<String> = []
    /// Those of these tables some of whose rows may have been merged before.
    var cascadedTablesAfterMerge: Set<String> = []
    /// Tables and scopes of staged rows that another part of the stack has partly taken.
    package var outOfScopeRows: Set<MirroredRows> = []
    /// The tables of all keys that are staged for a table.
    var stagedKeys: [TableID: String] = [:]
    /// The tables of staged rows that have expired, by the staged rows' name. The feed has them, so they are in its window.
    var expired: [String: [String]] = [:]
    /// The tables of the keys of rows that the merge has written, by table and key columns.
    var written: [String: String] = [:]
    /// The tables of trees of elements, by the names that they were given.
    var treeTables: [String: String] = [:]
    /// The columns by which the changelog names the rows of tables without staged rows.
    var changelogKeys: [TableID: [String]] = [:]
    private var lastNumber = 0

    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
