package import FeedModel
import FeedStaging
package import FeedStores
import Foundation
import GRDB
import Ledger
import Merging

extension SQLiteStore {
    package func undo(_ undo: Undo, seconds: @escaping @Sendable () -> Double) async throws -> RunReport {
        try await onWriter { try self.undo(undo, seconds: seconds, on: $0) }
    }

    /// - Parameter db: the writing connection.
    func undo(_ undo: Undo, seconds: () -> Double, on db: Database) throws -> RunReport {
        var commit = undo.commit
        try whileUndoing(undo, db) { merge, run in
            let ledger = db.ledger
            let merged = try merge.execute(run: run.id, after: run.lastChange)
            commit.report.counts = merged.counts
            commit.report.seconds = seconds()
            try ledger.write(commit, run: run)
            // The rows are no longer those of the feed's versions, nor those that others have sent.
            let written = claims(db)
            for table in merged.tables {
                try ledger.requests.forgetValidators(of: Set(written.requests(of: table, within: [:])))
            }
            return .commit
        }
        requestIndex.apply(commit)
        return commit.report
    }

    package func planUndo(_ undo: Undo, onChange: @escaping (PlannedChange) throws -> Void) throws -> MergeCounts {
        try pool.writeWithoutTransaction { db in
            var counts = MergeCounts()
            try whileUndoing(undo, db) { merge, run in
                counts = try merge.execute(run: run.id, after: run.lastChange, onChange: onChange).counts
                return .rollback
            }
            return counts
        }
    }

    /// Runs a body in a transaction, beside a database of its own for the rows.
    private func whileUndoing(
        _ undo: Undo, _ db: Database,
        _ body: (UndoMerge, RecordedRun) throws -> Database.TransactionCompletion
    ) throws {
        let path = ScratchDatabase.path(of: undo.source, in: workFolder)
        do {
            try ScratchDatabase.makeFolder(at: workFolder)
            ScratchDatabase.removeFile(at: path)
            try ScratchDatabase.makeFile(at: path)
            defer { ScratchDatabase.removeFile(at: path) }
            let stack = try attach(StagedStack(path: path, parts: []), mirrors: [], to: db)
            defer { db.detachWorker() }
            memory.beginTransaction()
            try checkFile()
            try db.inTransaction(.immediate) {
                let runs = db.ledger.runs
                try undo.check(try runs.commits(of: undo.source, after: undo.run), first: try runs.firstNumber())
                let run = try runs.draw(undo.commit.report)
                let driver = SQLiteUndoDriver(db, memory, run: run.id, schema: stack.schema)
                let end = try body(UndoMerge(undo, driver), run)
                try checkFile()
                return end
            }
        } catch let error as DatabaseError {
            throw StoreError(commit: error, path: self.path)
        }
    }
}
