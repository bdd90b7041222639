package import Foundation

/// The identity of a run that a transaction records.
package struct RecordedRun: Sendable {
    package var id: Int64
    /// The transaction's id (`xid8`); empty if transactions have none.
    package var transaction: String
    package var source: String
    package var startedAt: Date
    /// The first id that a row of its part of the changelog can have; nil for a run that merges nothing.
    package var firstChange: Int64?
    /// The last id of the changelog before the run.
    package var lastChange: Int64 { (firstChange ?? 1) - 1 }

    package init(id: Int64, transaction: String, source: String, startedAt: Date, firstChange: Int64? = nil) {
        self.id = id
        self.transaction = transaction
        self.source = source
        self.startedAt = startedAt
        self.firstChange = firstChange
    }
}
