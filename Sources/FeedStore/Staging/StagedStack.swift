/// What one run has staged, ready to be merged into the main store.
package struct StagedStack: Sendable {
    struct Part: Sendable {
        var table: StagingTable
        var counts: StagedCounts
        /// Whether the rows are merged in the order of their key rather than of the feed.
        var isSorted: Bool
    }

    /// The scratch database's file.
    var path: String
    /// In the order in which the stack staged them.
    var parts: [Part]
}

/// What was counted while rows were written to a staging table.
///
/// `@unchecked Sendable`: changed only on the scratch database's queue, read only once that is closed.
final class StagedCounts: @unchecked Sendable {
    /// Distinct rows, once the stack has been prepared for the merge.
    var rows = 0
    /// Rows that a later row with the same key replaced.
    var replaced = 0
    /// NULLs in each column, by its position.
    var nulls: [Int] = []
}
