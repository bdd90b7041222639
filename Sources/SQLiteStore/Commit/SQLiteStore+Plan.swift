package import FeedModel
package import FeedStaging
package import FeedStores
import Foundation
import GRDB
import Ledger
import Merging

extension SQLiteStore {
    /// Merges the staged rows of a run as a commit would, reports each change, and rolls everything back.
    ///
    /// Holds the store's write lock as long as a commit of the same stack would.
    /// - Throws: ``StoreError`` for an error that would discard the run, and the errors of `onChange`.
    package func plan(
        _ stack: StagedStack, mirrors: [MirroredRows],
        checkMirrors: @escaping Commit.MirrorCheck, limits: [ScopedRows: ChangeLimits],
        retention: Retention, source: String, onChange: @escaping (PlannedChange) throws -> Void
    ) throws -> MergeCounts {
        try pool.writeWithoutTransaction { db in
            var counts = MergeCounts()
            do {
                let stack = try attach(stack, mirrors: mirrors, to: db)
                defer { if stack.path != nil { db.detachWorker() } }
                memory.beginTransaction()
                try db.inTransaction(.immediate) {
                    _ = try claims(db).overlappingRequests(
                        of: source, stack.mirrored(and: mirrors), check: checkMirrors)
                    let merge = SQLiteMergeDriver(db, memory, stack, run: 0).merge(
                        mirrors: mirrors, retention: retention, onChange: onChange)
                    try stack.writeBatches(db)
                    counts = try merge.execute()
                    try db.checkForeignKeys()
                    try merge.check(limits) {
                        try db.acceptance(of: source, at: Date()).map { $0.run == nil } ?? false
                    }
                    return .rollback
                }
            } catch let error as DatabaseError {
                throw StoreError(commit: error, path: path)
            }
            return counts
        }
    }

}
