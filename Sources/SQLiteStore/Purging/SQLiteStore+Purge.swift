import FeedModel
import FeedStaging
package import FeedStores
import GRDB
import Ledger

extension SQLiteStore {
    package func purge(_ purge: Purge, isTrial: Bool) throws -> PurgeReport {
        do {
            try checkFile()
            return try pool.writeWithoutTransaction { db in
                var report = PurgeReport(run: purge.commit.report)
                try db.inTransaction(.immediate) {
                    // Parents and children that refer to one another go in any order.
                    try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
                    report = try SQLitePurge(
                        purge: purge, db: db, claims: claims(db), recorded: db.ledger.runs.draw(purge.commit.report)
                    ).run()
                    try db.checkForeignKeys()
                    try checkFile()
                    return isTrial ? .rollback : .commit
                }
                if !isTrial { requestIndex.apply(purge.commit) }
                return report
            }
        } catch let error as DatabaseError {
            throw StoreError(commit: error, path: path)
        }
    }
}
