import FeedModel
import FeedStores

/// The findings and postponed work of a merge.
///
/// A class because the merge's steps share it; one merge uses it, on the thread of its connection.
final class MergeProgress {
    /// Rows to be deleted once everything is in place, by their table's name.
    var postponed: [String: ChangedRows] = [:]
    /// The counts of these deletions.
    var counts = MergeCounts()
    /// What the merge does to each scope, as it is limited.
    var changes = ScopeChanges()
    /// Tables whose rows foreign keys have deleted or changed along with those of another table.
    var tablesTakenFrom: Set<String> = []
    /// Those of these tables from which rows were taken that may have been merged before.
    var tablesTakenFromLate: Set<String> = []
    /// Tables and scopes of staged rows some of which another part of the stack has taken.
    var strays: Set<MirroredRows> = []
    /// The merge's tables of all keys that are staged for a table, by the table's object id.
    var stagedKeys: [UInt32: String] = [:]
    /// Rows as they were before the merge, by the table's object id.
    var kept: [UInt32: Merge.KeptRows] = [:]
    /// The merge's tables of the keys of rows that it has written, by ``Merge/keyName(of:)``.
    var written: [String: String] = [:]
    private var numbers = 0

    /// Returns a number that no other table of the merge has in its name.
    func number() -> Int {
        numbers += 1
        return numbers
    }
}
