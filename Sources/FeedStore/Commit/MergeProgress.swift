import FeedModel

/// What a merge has found out and put off on its way.
///
/// A class because the merge's steps share it; one merge uses it, on the writing connection's queue.
final class MergeProgress {
    /// Rows to be deleted once everything is in place, by their table's name.
    var postponed: [String: ChangedRows] = [:]
    /// What such deletions have counted.
    var counts = MergeCounts()
    /// Tables of which foreign keys have taken rows along with those of another table.
    var tablesTakenFrom: Set<String> = []
    /// Of these, those from which rows were taken that may have been merged before.
    var tablesTakenFromLate: Set<String> = []
    /// What was staged in a scope from which another part of the stack has taken rows.
    var strays: Set<MirroredRows> = []
    /// The merge's own tables that hold whole rows, and need not keep them.
    var tablesToEmpty: [String] = []
}
