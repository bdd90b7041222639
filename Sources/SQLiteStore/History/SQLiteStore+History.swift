package import FeedModel
import FeedStaging
package import FeedStores
package import Foundation
import GRDB

extension SQLiteStore {
    package func commits(of source: String, after run: Int64) throws -> [CommittedRun] {
        try pool.read { try $0.commits(of: source, after: run) }
    }

    package func hasHistory(run: Int64) throws -> Bool {
        try pool.read { db in
            try Bool.fetchOne(db, sql: "SELECT history FROM tributary_run WHERE id = ?", arguments: [run]) ?? false
        }
    }

    package func lastRunWithHistory(of source: String?) throws -> Int64? {
        try pool.read { db in
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT max(id) FROM tributary_run
                    WHERE history AND inserted + updated + deleted > 0 \(source == nil ? "" : "AND source = ?")
                    """, arguments: StatementArguments([source].compactMap(\.self)))
        }
    }

    package func lastRun(at time: Date) throws -> Int64 {
        try pool.read { db in
            try Int64.fetchOne(
                db, sql: "SELECT max(id) FROM tributary_run WHERE finished_at <= ?", arguments: [StoreDate.text(time)]
            ) ?? 0
        }
    }

    package func undo(_ undo: Undo, seconds: @escaping @Sendable () -> Double) async throws -> RunReport {
        try await onWriter { try self.undo(undo, seconds: seconds, on: $0) }
    }

    /// - Parameter db: the writing connection.
    func undo(_ undo: Undo, seconds: () -> Double, on db: Database) throws -> RunReport {
        var commit = undo.commit
        try whileUndoing(undo, db) { transaction in
            let lastChange = try db.lastChange()
            let merged = try transaction.execute(run: try db.nextRun(), after: lastChange)
            commit.report.counts = merged.counts
            commit.report.seconds = seconds()
            let newest = try db.lastChange()
            try db.write(commit, changes: newest > lastChange ? lastChange + 1...newest : nil)
            // The rows are no longer those of the feed's versions, nor those that others have sent.
            let written = CommitClaims(index: requestIndex, db: db)
            for table in merged.tables {
                try db.forgetValidators(of: Set(written.requests(of: table, within: [:])))
            }
            return .commit
        }
        requestIndex.note(commit)
        return commit.report
    }

    package func planUndo(_ undo: Undo, onChange: @escaping (PlannedChange) throws -> Void) throws -> MergeCounts {
        try pool.writeWithoutTransaction { db in
            var counts = MergeCounts()
            try whileUndoing(undo, db) { transaction in
                counts = try transaction.execute(
                    run: try db.nextRun(), after: try db.lastChange(), onChange: onChange
                ).counts
                return .rollback
            }
            return counts
        }
    }

    /// Runs a body in a transaction, beside a database of its own for the rows.
    private func whileUndoing(
        _ undo: Undo, _ db: Database, _ body: (UndoTransaction) throws -> Database.TransactionCompletion
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
                let first = try Int64.fetchOne(db, sql: "SELECT min(id) FROM main.tributary_run") ?? 0
                try undo.check(try db.commits(of: undo.source, after: undo.run), first: first)
                let end = try body(
                    UndoTransaction(db: db, memory: memory, undo: undo, schema: stack.schema))
                try checkFile()
                return end
            }
        } catch let error as DatabaseError {
            throw StoreError(commit: error, path: self.path)
        }
    }
}

extension Database {
    fileprivate func commits(of source: String, after run: Int64) throws -> [CommittedRun] {
        try Row.fetchAll(
            self,
            sql: """
                SELECT id, started_at, inserted, updated, deleted, unchanged, history, restored FROM main.tributary_run
                WHERE source = ? AND id > ? AND outcome = 'committed' ORDER BY id
                """, arguments: [source, run]
        ).map { row in
            CommittedRun(
                number: row["id"], startedAt: StoreDate.date(row["started_at"]) ?? .distantPast,
                counts: MergeCounts(
                    inserted: row["inserted"], updated: row["updated"], deleted: row["deleted"],
                    unchanged: row["unchanged"]),
                hasHistory: row["history"], restoredRun: row["restored"])
        }
    }
}
