package import FeedModel
package import FeedStaging
package import FeedStores
import Foundation
import GRDB
import GRDBSQLite

/// The one place where the main store is written.
extension SQLiteStore {
    package func record(_ commit: Commit) async throws {
        try await transactInGroup { [self] db in try ledger(db).write(commit) }
    }

    /// Merges the staged rows of a run, and records the run, in one transaction. Cancelling the task does not stop a
    /// commit that has begun; `stop` does.
    ///
    /// - Parameters:
    ///   - stop: lets another thread stop the commit.
    ///   - seconds: the run's duration so far, called when the rows have been merged.
    /// - Returns: the report as it was recorded.
    /// - Throws: ``StoreError``; the store is then unchanged.
    package func commit(
        _ commit: Commit, merging stack: StagedStack, stop: Stop,
        seconds: @escaping @Sendable () -> Double
    ) async throws -> RunReport {
        try await writer.write { db in
            try self.commit(commit, merging: stack, stop: stop, seconds: seconds, on: db)
        }
    }

    /// - Parameter db: the writing connection.
    func commit(
        _ commit: Commit, merging stack: StagedStack, stop: Stop = Stop(),
        seconds: () -> Double, on db: Database
    ) throws -> RunReport {
        try writing {
            let stack = try attach(stack, mirrors: commit.mirrors, to: db)
            defer { if stack.path != nil { db.detachWorker() } }
            return try db.whileStoppable(by: stop) {
                func record(defersForeignKeys: Bool) throws -> RunReport {
                    try self.record(
                        commit, merging: stack, defersForeignKeys: defersForeignKeys, stop, seconds: seconds,
                        db)
                }
                guard stack.path == nil else { return try record(defersForeignKeys: true) }
                do {
                    // Deferring them makes SQLite forget every prepared statement, which takes longer than most small
                    // stacks. Most stacks do not need it, as parents come before their children.
                    return try record(defersForeignKeys: false)
                } catch let error as DatabaseError where error.breaksForeignKey {
                    return try record(defersForeignKeys: true)
                }
            }
        }
    }

    private func record(
        _ commit: Commit, merging stack: StagedStack, defersForeignKeys: Bool, _ stop: Stop,
        seconds: () -> Double, _ db: Database
    ) throws -> RunReport {
        var recorded = commit
        memory.beginTransaction()
        try checkFile()
        try db.inTransaction(.immediate) {
            let run = try ledger(db).runs.draw(commit.report)
            let driver = SQLiteMergeDriver(
                db, memory, stack, run: run.id, defersForeignKeys: defersForeignKeys,
                keepsHistory: commit.keepsHistory)
            recorded = try CommitTransaction(SQLiteCommitDriver(store: self, merging: driver))
                .record(commit, as: run, seconds: seconds)
            try checkFile()
            // Requested between two statements, it has ended none of them.
            try stop.check()
            return .commit
        }
        memory.endTransaction()
        return recorded.report
    }

    /// Merges the staged rows of a run as a commit would, reports each change, and rolls everything back.
    ///
    /// Holds the store's write lock as long as a commit of the same stack would.
    /// - Throws: ``StoreError`` for an error that would discard the run, and the errors of `onChange`.
    package func plan(
        _ stack: StagedStack, mirrors: [MirroredRows], checkMirrors: @escaping Commit.MirrorCheck,
        limits: [ScopedRows: ChangeLimits], retention: Retention, source: String,
        onChange: @escaping (PlannedChange) throws -> Void
    ) throws -> MergeCounts {
        try merging(stack, mirrors: mirrors, end: .rollback) {
            try $0.merge(
                mirrors: mirrors, of: source, check: checkMirrors, limits: limits, retention: retention,
                onChange: onChange)
        }
    }

    /// Merges and keeps the staged rows as a commit would, without the record of a run. For a store that is used for
    /// trials.
    ///
    /// - Throws: ``StoreError`` for an error that would discard a run; the store is then unchanged.
    package func load(_ stack: StagedStack) throws {
        _ = try merging(stack, end: .commit) { try $0.merge() }
    }

    /// Merges rows in a transaction without the record of a run.
    private func merging(
        _ stack: StagedStack, mirrors: [MirroredRows] = [], end: Database.TransactionCompletion,
        _ body: (CommitTransaction) throws -> MergeCounts
    ) throws -> MergeCounts {
        try pool.writeWithoutTransaction { db in
            try writing {
                let stack = try attach(stack, mirrors: mirrors, to: db)
                defer { if stack.path != nil { db.detachWorker() } }
                memory.beginTransaction()
                var counts = MergeCounts()
                try db.inTransaction(.immediate) {
                    let driver = SQLiteMergeDriver(db, memory, stack, run: 0)
                    counts = try body(CommitTransaction(SQLiteCommitDriver(store: self, merging: driver)))
                    return end
                }
                if end == .commit { memory.endTransaction() }
                return counts
            }
        }
    }
}

/// A commit on the store's writing connection.
struct SQLiteCommitDriver: CommitDriver {
    let store: SQLiteStore
    let merging: SQLiteMergeDriver

    var driver: any MergeDriver { merging }
    var ledger: Ledger { store.ledger(merging.db) }
    var claims: CommitClaims { store.claims(merging.db) }

    // The transaction has locked the store.
    func stage(_ mirrors: [MirroredRows], _ retention: Retention) throws { try merging.stack.writeBatches(merging.db) }

    func finish() throws {
        try merging.stack.removeBatches(merging.db)
        try store.checkForeignKeys(merging.db, of: merging.usedTables)
    }

    func marks(of tables: [Set<String>]) throws -> [String] {
        try tables.map { try store.tableInfos.mark(of: $0, in: merging.db) }
    }
}

extension SQLiteStore {
    /// Makes the staged rows of a stack readable on the writing connection, before the transaction that merges it.
    ///
    /// - Returns: the stack with counts of its own: after a blocked commit, the same stack is merged again to show its
    ///   changes.
    func attach(_ stack: StagedStack, mirrors: [MirroredRows], to db: Database) throws -> StagedStack {
        var stack = stack
        for index in stack.parts.indices { stack.parts[index].counts = stack.parts[index].counts.copy() }
        if let path = stack.path {
            try db.attachWorker(path)
            for index in stack.parts.indices { stack.parts[index].table.schema = stack.schema }
        }
        return try memory.makeTables(for: stack, mirrors: mirrors, db)
    }
}

extension StagedStack {
    /// The name of the database in which the rows are, on the connection that merges them.
    var schema: String { path == nil ? StagingMemory.databaseName : "worker" }
}

extension Database {
    fileprivate func attachWorker(_ path: String) throws {
        try execute(sql: "ATTACH DATABASE ? AS worker", arguments: [path])
        do {
            try execute(
                sql: """
                    PRAGMA worker.journal_mode = TRUNCATE; PRAGMA worker.synchronous = OFF;
                    PRAGMA worker.cache_size = -2048
                    """)
        } catch {
            detachWorker()
            throw error
        }
    }

    func detachWorker() {
        // Statements that read its tables keep the worker database attached until they are finalized.
        releaseMemory()
        do {
            try execute(sql: "DETACH DATABASE worker")
        } catch {
            // Only an open statement could be the cause, and every statement above has ended.
            assertionFailure("worker context still attached: \(error)")
        }
    }
}

extension Database {
    /// Runs a body whose statements a stop ends, also one that is requested between two of them, or while one
    /// waits for a lock: `sqlite3_interrupt` ends only the statement that is running (c3ref/interrupt.html).
    ///
    /// - Throws: `CancellationError` where it was requested; the errors of the body.
    func whileStoppable<Value>(by stop: Stop, _ body: () throws -> Value) throws -> Value {
        // It is called only as long as the body runs, on the connection that the body holds.
        nonisolated(unsafe) let connection = sqliteConnection
        sqlite3_progress_handler(
            connection, Self.stepsBetweenChecks,
            { Unmanaged<Stop>.fromOpaque($0!).takeUnretainedValue().isRequested ? 1 : 0 },
            Unmanaged.passUnretained(stop).toOpaque())
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try stop.whileStoppable(Stop.Work(end: { sqlite3_interrupt(connection) }), body)
    }

    /// The steps of a statement after which the stop is checked: some microseconds.
    private static let stepsBetweenChecks: Int32 = 1_000
}
