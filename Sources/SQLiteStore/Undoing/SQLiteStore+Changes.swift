package import FeedModel
import FeedStaging
package import FeedStores
package import Foundation
import GRDB
import Ledger
import Merging

extension SQLiteStore {
    package func changes(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws {
        do {
            try pool.read { db in try RowChanges(SQLiteHistories(db: db), db.ledger).report(query, body) }
        } catch let error as DatabaseError {
            throw StoreError(.database, "the history cannot be read: \(error.message ?? error.description)")
        }
    }

    package func withImages(
        _ changes: [ChangelogEntry], of run: Int64, keys: [String: [String]]
    ) throws -> [ChangelogEntry] {
        do {
            return try pool.read { db in
                try RowChanges(SQLiteHistories(db: db), db.ledger, isTyped: true).withImages(
                    changes, of: run, keys: keys)
            }
        } catch let error as DatabaseError {
            throw StoreError(.database, "changed rows cannot be read: \(error.message ?? error.description)")
        }
    }

    /// Deletes runs that began before a date, with all that is kept of them, and histories that have ended and are empty.
    ///
    /// - Returns: true if there may be more.
    /// - Throws: ``StoreError``
    package func forgetRuns(before date: Date) throws -> Bool {
        try pool.write { db in try SQLiteHistories(db: db).forgetRuns(before: date, db.ledger.retention) }
    }
}
