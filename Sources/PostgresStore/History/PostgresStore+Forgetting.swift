import FeedModel
package import Foundation
import Ledger
import PostgresClient

extension PostgresStore {
    /// Deletes runs that began before a date, with all that is kept of them, and histories that have ended and are empty.
    ///
    /// - Returns: true where there may be more.
    /// - Throws: ``StoreError``
    package func forgetRuns(before date: Date) throws -> Bool {
        try write { connection in
            let retention = connection.ledger().retention
            var isUnfinished = try retention.forgetRuns(before: date)
            for history in try HistoryName.all(connection) {
                if try retention.forgetEntries(of: history.sql) > 0 {
                    isUnfinished = true
                } else if history.table == nil {
                    try connection.dropFormer(history.sql)
                }
            }
            return isUnfinished
        }
    }
}

extension PostgresConnection {
    /// Drops a history that has ended, unless it has entries, or somebody reads it.
    fileprivate func dropFormer(_ history: String) throws {
        guard try execute("SELECT EXISTS (SELECT FROM \(history))")[0].bool(0) == false else { return }
        do {
            try inSavepoint {
                try execute("LOCK TABLE \(history) IN ACCESS EXCLUSIVE MODE NOWAIT")
                try execute("DROP TABLE \(history)")
            }
        } catch let error as PostgresError where error.kind == .statement {
            // It is in use, or something depends on it.
        }
    }
}
