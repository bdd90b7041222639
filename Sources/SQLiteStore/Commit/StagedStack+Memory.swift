import FeedStaging
import GRDB

/// Rows that have stayed in memory until they are merged.
extension StagedStack {
    /// Writes them to their staging tables, and prepares these as a scratch database's tables are when it is closed.
    func writeBatches(_ db: Database) throws {
        guard path == nil else { return }
        for part in parts {
            part.counts.reset()
            for batch in part.batches { try db.write(batch, into: part.table, counts: part.counts) }
        }
        try db.keepLast(of: parts.map { ($0.table, $0.counts) }, without: skippedNumbers)
    }

    /// Leaves the staging tables empty for the next stack.
    func removeBatches(_ db: Database) throws {
        guard path == nil else { return }
        for part in parts {
            try db.execute(cached: "DELETE FROM \(part.table.qualifiedName)")
            if part.counts.hasDuplicates { try db.execute(cached: "DELETE FROM \(part.table.duplicates)") }
        }
    }
}
