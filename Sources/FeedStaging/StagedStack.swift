package import FeedModel

/// The staged rows of one run, ready to be merged into the main store.
package struct StagedStack: Sendable {
    package struct Part: Sendable {
        package var table: StagingTable
        package var counts: StagedCounts
        /// True if the rows are merged in the order of their key rather than that of the feed.
        package var isSorted: Bool
        /// Rows that have stayed in memory.
        package var batches: [StagedBatch]

        package init(table: StagingTable, counts: StagedCounts, isSorted: Bool, batches: [StagedBatch]) {
            self.table = table
            self.counts = counts
            self.isSorted = isSorted
            self.batches = batches
        }
    }

    /// A stack without any row.
    package static let empty = StagedStack(path: nil, parts: [])

    /// The scratch database's file; nil if all rows have stayed in memory.
    package var path: String?
    /// The parts in the order in which the stack staged them.
    package var parts: [Part]
    /// True if the file still has the replaced rows, which the store has to find.
    package var hasReplaced = false
    /// Records that were left out because of an error.
    package var skipped: [SkippedRecords] = []
    /// The same as they were read, for the record of the run; nil without one.
    package var rejected: RejectedRecords?
    /// The numbers of left out records that may enclose others, by the names of their tables.
    package var skippedNumbers: [String: [Int64]] = [:]

    /// Expectations that the rows do not meet, and for which the commit is blocked.
    package var unmet: [ExceededLimit] = []

    package init(path: String?, parts: [Part]) {
        self.path = path
        self.parts = parts
    }

    /// Returns the rows that the parts mirror, and those that requests are known to mirror.
    package func mirrored(and mirrors: [MirroredRows]) -> Set<MirroredRows> {
        parts.reduce(into: Set(mirrors)) { mirrored, part in
            guard part.table.sync == .mirror else { return }
            mirrored.insert(
                MirroredRows(table: part.table.table.name, scope: part.table.scope, window: part.table.window))
        }
    }
}

/// Rows of one staging table, with the number of the first; the others are numbered consecutively.
package struct StagedBatch: Sendable {
    package var rows: RowBatch
    package var firstRow: Int64
}
