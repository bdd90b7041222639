package import FeedModel
package import FeedStaging
package import FeedStores
import Foundation
import GRDB
import Merging
import GRDBSQLite
import Ledger

/// The one place where the main store is written.
extension SQLiteStore {
    /// Merges the staged rows of a run, and records the run, in one transaction. Cancelling the task does not stop a
    /// commit that has begun; `interruption` does.
    ///
    /// - Parameters:
    ///   - stack: nil for a run that has no rows to merge: unchanged, discarded or cancelled.
    ///   - interruption: lets another thread stop the commit.
    ///   - seconds: the run's duration so far, called when the rows have been merged.
    /// - Returns: the report as it was recorded.
    /// - Throws: ``StoreError``; the store is then unchanged.
    package func commit(
        _ commit: Commit, merging stack: StagedStack?, interruption: Interruption,
        seconds: @escaping @Sendable () -> Double
    ) async throws -> RunReport {
        guard let stack else {
            var commit = commit
            commit.report.seconds = seconds()
            try await writeInGroup(committed: { [commit] in self.requestIndex.apply(commit) }) { [commit] db in
                try db.ledger.write(commit)
            }
            return commit.report
        }
        return try await onWriter { db in
            try self.commit(commit, merging: stack, interruption: interruption, seconds: seconds, on: db)
        }
    }

    /// - Parameter db: the writing connection.
    func commit(
        _ commit: Commit, merging stack: StagedStack, interruption: Interruption = Interruption(),
        seconds: () -> Double, on db: Database
    ) throws -> RunReport {
        do {
            let stack = try attach(stack, mirrors: commit.mirrors, to: db)
            defer { if stack.path != nil { db.detachWorker() } }
            // It is called only as long as the body runs, on the connection that the body holds.
            nonisolated(unsafe) let connection = db.sqliteConnection
            return try interruption.whileInterruptible({ sqlite3_interrupt(connection) }) {
                guard stack.path == nil else {
                    return try record(commit, merging: stack, defersForeignKeys: true, seconds: seconds, db)
                }
                do {
                    // Deferring them makes SQLite forget every prepared statement, which takes longer than most small
                    // stacks. Most stacks do not need it, as parents come before their children.
                    return try record(commit, merging: stack, defersForeignKeys: false, seconds: seconds, db)
                } catch let error as DatabaseError where error.breaksForeignKey {
                    return try record(commit, merging: stack, defersForeignKeys: true, seconds: seconds, db)
                }
            }
        } catch let error as DatabaseError {
            throw StoreError(commit: error, path: path)
        }
    }

    private func record(
        _ commit: Commit, merging stack: StagedStack, defersForeignKeys: Bool, seconds: () -> Double, _ db: Database
    ) throws -> RunReport {
        var commit = commit
        var widened: Set<RequestID> = []
        memory.beginTransaction()
        try checkFile()
        try db.inTransaction(.immediate) {
            let ledger = db.ledger
            let run = try ledger.runs.draw(commit.report)
            let written = claims(db)
            var overlapping = try written.overlappingRequests(
                of: commit.report.source, stack.mirrored(and: commit.mirrors), check: commit.checkMirrors)
            overlapping.subtract(commit.changedRequests)
            let watch = ClaimWatch(written)
            let driver = SQLiteMergeDriver(
                db, memory, stack, run: run.id, defersForeignKeys: defersForeignKeys,
                keepsHistory: commit.keepsHistory)
            let merge = driver.merge(mirrors: commit.mirrors, retention: commit.retention, claims: watch)
            try stack.writeBatches(db)
            // If a table has no rows at all, the rows that its requests stand for are gone.
            try ledger.requests.forgetValidators(of: written.writersOfEmptiedTables(filledBy: stack))
            commit.report.counts = try merge.execute()
            commit.report.skipped += commit.report.counts.skipped
            try merge.check(commit.limits, accepted: commit.accepted) {
                try db.acceptance(of: commit.report.source, at: commit.report.startedAt).map { $0.run == nil } ?? false
            }
            widened = try watch.widen(&commit, outOfScope: ScopeTracker(merge: merge.context).outOfScopeRows())
            try stack.removeBatches(db)
            try db.checkForeignKeys()
            commit.report.seconds = seconds()
            // Rows that a foreign key has deleted or changed: the requests that wrote them, in this stack or another,
            // send them again.
            for table in merge.context.state.cascadedTables {
                try ledger.requests.forgetValidators(of: Set(written.requests(of: table, within: [:])))
            }
            for index in commit.requests.indices where commit.revalidated[commit.requests[index].key] == nil {
                commit.requests[index].schema = try tableInfos.mark(of: commit.requests[index].tables, in: db)
            }
            try ledger.write(commit, run: run)
            try ledger.requests.widenScopes(of: widened)
            if commit.report.counts.deleted > 0 { try ledger.requests.forgetValidators(of: overlapping) }
            try checkFile()
            return .commit
        }
        memory.endTransaction()
        requestIndex.apply(commit, widened: widened)
        return commit.report
    }
}

extension SQLiteStore {
    /// Makes the staged rows of a stack readable on the writing connection, before the transaction that merges it.
    func attach(_ stack: StagedStack, mirrors: [MirroredRows], to db: Database) throws -> StagedStack {
        var stack = stack
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
                    PRAGMA worker.journal_mode = MEMORY; PRAGMA worker.synchronous = OFF; PRAGMA worker.cache_size = -2048
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

    /// Names the first broken foreign key. Foreign keys are deferred while a commit merges.
    func checkForeignKeys() throws {
        guard hasBrokenForeignKeys else { return }
        guard let violation = try Row.fetchOne(self, sql: "PRAGMA main.foreign_key_check") else { return }
        let table: String = violation["table"]
        let parent: String = violation["parent"]
        let constraint: Int = violation["fkid"]
        let rows = try Row.fetchAll(self, sql: "PRAGMA main.foreign_key_list(\(table.sqlIdentifier))")
            .filter { ($0["id"] as Int) == constraint }
        let columns = rows.map { $0["from"] as String }
        let target = rows.compactMap { $0["to"] as String? }
        let rowID: Int64? = violation["rowid"]
        let row = try rowID.flatMap { rowID in
            try Row.fetchOne(
                self, sql: "SELECT * FROM main.\(table.sqlIdentifier) WHERE rowid = ?", arguments: [rowID])
        }
        let reference = target.isEmpty ? parent : "\(parent)(\(target.joined(separator: ", ")))"
        throw StoreError(
            .constraint,
            "table '\(table)': foreign key (\(columns.joined(separator: ", "))) REFERENCES \(reference) has no such row, "
                + "in the row \(row.map(describe) ?? "without a row id")")
    }
}
