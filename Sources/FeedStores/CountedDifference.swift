package import FeedModel
package import FeedStaging

/// The counts of the staged rows of a part that are new or differ from the store's.
package protocol CountedDifference {
    var part: StagedStack.Part { get }
    /// Rows that the store lacks.
    var new: Int { get }
    /// Rows that the store has, and that differ or are marked as gone.
    var updated: Int { get }
    /// Those of the updated rows that are marked as gone.
    var back: Int { get }
    /// Rows that were marked as gone and no longer are, where rows are compared whole.
    var takenBack: Int { get }
}

extension CountedDifference {
    package var unchanged: Int { max(0, part.counts.rows - new - updated - takenBack) }

    /// What the merge does with the part's rows. One that is back counts as inserted.
    package var counts: MergeCounts {
        MergeCounts(inserted: new + back + takenBack, updated: updated - back, unchanged: unchanged)
    }

    /// The columns that known rows get from the staged ones. Of rows that are kept as they are, only marks are cleared.
    package var updatedColumns: [String] {
        part.table.sync == .upsert || part.table.sync == .mirror ? part.table.comparedColumns : []
    }
}
