import CSQLite
package import FeedModel
import FeedStaging
package import FeedStores
package import Foundation
import GRDB

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
        UndoMerge(undo, SQLiteUndoDriver(self, db, run: run.id, schema: stack.schema))
    }
}

extension SQLiteStore {
    package func changes(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws {
        try reading { try pool.read { try RowChanges(SQLiteHistories(db: $0), $0.ledger).report(query, body) } }
    }

    package func withImages(
        _ changes: [ChangelogEntry], of run: Int64, keys: [String: [String]]
    ) throws -> [ChangelogEntry] {
        try reading {
            try pool.read { db in
                try RowChanges(SQLiteHistories(db: db), db.ledger, isTyped: true).withImages(
                    changes, of: run, keys: keys, later: laterChanges)
            }
        }
    }

    /// Deletes runs that began before a date, with all that is kept of them, and histories that have ended and are empty.
    ///
    /// - Returns: true if there may be more.
    /// - Throws: ``StoreError``
    package func forgetRuns(before date: Date, keeping histories: [String: Date]) throws -> Bool {
        try pool.write { db in
            try SQLiteHistories(db: db).forgetRuns(before: date, keeping: histories, db.ledger.retention)
        }
    }
}

/// Rows for those who look at them, by connections of their own that SQLite opened to read.
extension SQLiteStore {
    /// The time after which a question ends. SQLite asks for it while a statement runs.
    private final class Deadline {
        let end: ContinuousClock.Instant

        init(_ limit: Duration) { end = .now + limit }

        /// The steps of a statement's program between two looks at the clock, some 10,000 rows' worth of microseconds.
        static let steps: Int32 = 20_000

        /// Ends the statements of a connection that take longer (c3ref/progress_handler.html).
        func limit(_ db: Database) {
            sqlite3_progress_handler(
                db.sqliteConnection, Self.steps,
                { context in
                    guard let context else { return 0 }
                    return Unmanaged<Deadline>.fromOpaque(context).takeUnretainedValue().end < .now ? 1 : 0
                }, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    package func browse<Value>(within limit: Duration?, _ body: (TableReader) throws -> Value) throws -> Value {
        do {
            let deadline = limit.map(Deadline.init)
            return try withExtendedLifetime(deadline) {
                try DatabaseQueue.reading(path, waiting: 2, prepare: { try $0.addRowDigest() }) { db in
                    deadline?.limit(db)
                    defer { sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
                    return try body(TableReader(SQLiteHistories(db: db), db.ledger))
                }
            }
        } catch let error as DatabaseError {
            if let limit, error.resultCode == .SQLITE_INTERRUPT { throw RowQuery.Problem.late(after: limit) }
            throw StoreError(.database, "the store \(path) cannot be read: \(error.message ?? error.description)")
        }
    }
}
