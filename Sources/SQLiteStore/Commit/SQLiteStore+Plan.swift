package import FeedModel
package import FeedStaging
package import FeedStores
import Foundation
import GRDB

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
                    _ = try CommitClaims(index: requestIndex, db: db).rivals(
                        of: source, stack.mirrored(and: mirrors), check: checkMirrors)
                    let merge = Merge(
                        db: db, run: 0, stack: stack, memory: memory, mirrors: mirrors, onChange: onChange,
                        retention: retention)
                    try stack.writeBatches(db)
                    counts = try merge.execute()
                    try db.checkForeignKeys()
                    try merge.check(limits, of: source, on: Date())
                    return .rollback
                }
            } catch let error as DatabaseError {
                throw StoreError(commit: error, path: path)
            }
            return counts
        }
    }

}
