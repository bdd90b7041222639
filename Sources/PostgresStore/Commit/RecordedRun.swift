import Foundation

/// A run that a transaction has recorded, with all that tells it from others.
struct RecordedRun: Sendable {
    var id: Int64
    /// The transaction's id (`xid8`).
    var transaction: String
    var source: String
    var startedAt: Date
}
