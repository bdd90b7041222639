import FeedModel

/// The staged rows of one run, ready to be merged into the main store.
package struct StagedStack: Sendable {
    struct Part: Sendable {
        var table: StagingTable
        var counts: StagedCounts
        /// True if the rows are merged in the order of their key rather than that of the feed.
        var isSorted: Bool
        /// Rows that have stayed in memory.
        var batches: [StagedBatch]
    }

    /// The scratch database's file; nil where all rows have stayed in memory.
    var path: String?
    /// The parts in the order in which the stack staged them.
    var parts: [Part]

    /// The name of the database in which the rows are, on the connection that merges them.
    var schema: String { path == nil ? StagingMemory.schema : "worker" }

    /// Returns the rows that the parts mirror, together with those that requests are known to mirror.
    func mirrored(and mirrors: [MirroredRows]) -> Set<MirroredRows> {
        parts.reduce(into: Set(mirrors)) { mirrored, part in
            guard part.table.sync == .mirror else { return }
            mirrored.insert(
                MirroredRows(table: part.table.table.name, scope: part.table.scope, window: part.table.window))
        }
    }
}
