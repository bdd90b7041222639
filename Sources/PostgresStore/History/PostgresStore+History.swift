package import FeedModel
import FeedStaging
package import FeedStores
package import Foundation
import PostgresClient

extension PostgresStore {
    package func commits(of source: String, after run: Int64) throws -> [CommittedRun] {
        try ask { try $0.commits(of: source, after: run) }
    }

    package func hasHistory(run: Int64) throws -> Bool {
        try ask { connection in
            try connection.execute("SELECT history FROM tributary_run WHERE id = $1", [.integer(run)]).first?.bool(0)
                ?? false
        }
    }

    package func lastRunWithHistory(of source: String?) throws -> Int64? {
        try ask { connection in
            try connection.execute(
                """
                SELECT max(id) FROM tributary_run
                WHERE history AND ($1::text IS NULL OR source = $1) AND inserted + updated + deleted > 0
                """, [source.map { .text($0) }])[0].int64(0)
        }
    }

    package func lastRun(at time: Date) throws -> Int64 {
        try ask { connection in
            try connection.execute(
                "SELECT max(id) FROM tributary_run WHERE finished_at <= $1", [PostgresDate.value(time)])[0].int64(0)
                ?? 0
        }
    }

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
        try store.lockWaits.limit(connection, silence: LockWaits.silenceBeforeLocks)
        try ledger.checkLease(of: undo.source)
        let run = try ledger.drawRun(of: commit.report)
        let undone = try UndoTransaction(store: store, connection: connection, undo: undo)
            .execute(run: run, lock: lock)
        commit.report.counts = undone.counts
        commit.report.seconds = seconds()
        // The rows are no longer those of the feed's versions, nor those that others have sent.
        let writers = try undone.tables.sorted().flatMap { try claims.requests(of: $0, within: [:]) }
        try ledger.write(commit, run: run)
        try RequestLedger(connection: connection, source: undo.source).forgetValidators(of: Set(writers))
        try ledger.notify(commit.report, run: run)
        return (run, commit.report)
    }

    func plan(_ undo: Undo, onChange: @escaping (PlannedChange) throws -> Void) throws -> MergeCounts {
        try store.lockWaits.limit(connection, silence: LockWaits.silenceBeforeLocks)
        let run = try ledger.drawRun(of: undo.commit.report)
        return try UndoTransaction(store: store, connection: connection, undo: undo)
            .execute(run: run, onChange: onChange, lock: lock).counts
    }
}

extension PostgresConnection {
    /// Makes the texts of values, over which digests are, the same whatever the settings of the server, the database and
    /// the role are. For the transaction.
    func fixTexts() throws {
        try executeScript(
            "SET LOCAL intervalstyle = postgres; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = hex")
    }

    func commits(of source: String, after run: Int64) throws -> [CommittedRun] {
        try execute(
            """
            SELECT id, \(PostgresDate.sql("started_at")), inserted, updated, deleted, unchanged, history, restored
            FROM tributary_run
            WHERE source = $1 AND id > $2 AND outcome = 'committed' ORDER BY id
            """, [.text(source), .integer(run)]
        ).map { row in
            CommittedRun(
                number: try row.int64(0) ?? 0, startedAt: try row.date(1) ?? .distantPast,
                counts: MergeCounts(
                    inserted: try row.int(2) ?? 0, updated: try row.int(3) ?? 0, deleted: try row.int(4) ?? 0,
                    unchanged: try row.int(5) ?? 0),
                hasHistory: try row.bool(6) ?? false, restoredRun: try row.int64(7))
        }
    }
}
