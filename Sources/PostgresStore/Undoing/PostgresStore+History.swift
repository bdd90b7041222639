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
    /// Brings rows back to what they were, and records the run that has done so.
    func record(_ undo: Undo, seconds: () -> Double) throws -> (run: RecordedRun, report: RunReport) {
        var commit = undo.commit
        let run = try ledger.runs.draw(commit.report)
        let undone = try merge(undo, run)
        commit.report.counts = undone.counts
        commit.report.seconds = seconds()
        // The rows are no longer those of the feed's versions, nor those that others have sent.
        let writers = try undone.tables.sorted().flatMap { try claims.requests(of: $0, within: [:]) }
        try ledger.write(commit, run: run)
        try ledger.requests.forgetValidators(of: Set(writers))
        return (run, commit.report)
    }

    func plan(_ undo: Undo, onChange: @escaping (PlannedChange) throws -> Void) throws -> MergeCounts {
        let run = try ledger.runs.draw(undo.commit.report)
        return try merge(undo, run, onChange: onChange).counts
    }

    private func merge(
        _ undo: Undo, _ run: RecordedRun, onChange: ((PlannedChange) throws -> Void)? = nil
    ) throws -> UndoMerge.Outcome {
        try connection.fixTexts()
        try undo.check(
            try ledger.runs.commits(of: undo.source, after: undo.run), first: try ledger.runs.firstNumber())
        let driver = PostgresUndoDriver(store, connection, run: run.id) { try lock($0, $1) }
        return try UndoMerge(undo, driver).execute(run: run.id, after: run.lastChange, onChange: onChange)
    }
}

extension PostgresConnection {
    /// Makes the texts of values, over which digests are, the same whatever the settings of the server, the database and
    /// the role are. For the transaction.
    func fixTexts() throws {
        try executeScript(
            "SET LOCAL intervalstyle = postgres; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = hex")
    }
}
