package import FeedModel
import FeedStaging
package import FeedStores
import Foundation
import GRDB
import Ledger
import Merging

extension SQLiteStore {
    package func undo(_ undo: Undo, seconds: @escaping @Sendable () -> Double) async throws -> RunReport {
        try await writer.write { try self.undo(undo, seconds: seconds, on: $0) }
    }

    /// - Parameter db: the writing connection.
    func undo(_ undo: Undo, seconds: () -> Double, on db: Database) throws -> RunReport {
        var commit = undo.commit
        try recording(commit.report, db) { run, stack in
            commit = try merge(undo, run, stack, db).record(as: run, ledger(db), claims(db), seconds: seconds)
            return .commit
        }
        requestIndex.apply(commit)
        return commit.report
    }

    package func planUndo(_ undo: Undo, onChange: @escaping (PlannedChange) throws -> Void) throws -> MergeCounts {
        try pool.writeWithoutTransaction { db in
            var counts = MergeCounts()
            try recording(undo.commit.report, db) { run, stack in
                counts = try merge(undo, run, stack, db).plan(as: run, ledger(db), onChange: onChange)
                return .rollback
            }
            return counts
        }
    }

    private func merge(_ undo: Undo, _ run: RecordedRun, _ stack: StagedStack, _ db: Database) -> UndoMerge {
        UndoMerge(undo, SQLiteUndoDriver(db, memory, run: run.id, schema: stack.schema))
    }
}
