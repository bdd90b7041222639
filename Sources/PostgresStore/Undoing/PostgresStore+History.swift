package import FeedModel
import FeedStaging
package import FeedStores
import Foundation
import Ledger
import Merging
import PostgresClient
import StoreSQL

extension PostgresStore {
    package func undo(_ undo: Undo, seconds: @escaping @Sendable () -> Double) async throws -> RunReport {
        try await commitThreads.run { try self.undoNow(undo, seconds: seconds) }
    }

    /// Does the same as ``undo(_:seconds:)`` on the caller's thread.
    func undoNow(_ undo: Undo, seconds: @escaping () -> Double) throws -> RunReport {
        try CommitInterruption.follow(Interruption()) { interruption in
            try StackCommit(store: self, interruption: interruption) { transaction in
                try transaction.record(undo, seconds: seconds)
            }.run()
        }
    }

    package func planUndo(_ undo: Undo, onChange: @escaping (PlannedChange) throws -> Void) throws -> MergeCounts {
        try planning { try $0.plan(undo, onChange: onChange) }
    }
}

extension StackTransaction {
    /// Restores rows, and records the run.
    func record(_ undo: Undo, seconds: () -> Double) throws -> (run: RecordedRun, report: RunReport) {
        let run = try ledger.runs.draw(undo.commit.report)
        let commit = try merge(undo, run).record(as: run, ledger, store.claims(connection), seconds: seconds)
        return (run, commit.report)
    }

    func plan(_ undo: Undo, onChange: @escaping (PlannedChange) throws -> Void) throws -> MergeCounts {
        let run = try ledger.runs.draw(undo.commit.report)
        return try merge(undo, run).plan(as: run, ledger, onChange: onChange)
    }

    private func merge(_ undo: Undo, _ run: RecordedRun) -> UndoMerge {
        UndoMerge(undo, PostgresUndoDriver(store, connection, run: run.id))
    }
}
