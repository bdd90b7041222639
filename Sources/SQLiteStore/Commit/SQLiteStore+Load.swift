import FeedModel
package import FeedStaging
import GRDB
import Merging

extension SQLiteStore {
    /// Merges and keeps the staged rows as a commit would, without the record of a run. For a store that is used for
    /// trials.
    ///
    /// - Throws: ``StoreError`` for an error that would discard a run; the store is then unchanged.
    package func load(_ stack: StagedStack) throws {
        try pool.writeWithoutTransaction { db in
            do {
                let stack = try attach(stack, mirrors: [], to: db)
                defer { if stack.path != nil { db.detachWorker() } }
                memory.beginTransaction()
                try db.inTransaction(.immediate) {
                    try stack.writeBatches(db)
                    _ = try SQLiteMergeDriver(db, memory, stack, run: 0).merge().execute()
                    try stack.removeBatches(db)
                    try db.checkForeignKeys()
                    return .commit
                }
                memory.endTransaction()
            } catch let error as DatabaseError {
                throw StoreError(commit: error, path: path)
            }
        }
    }
}
