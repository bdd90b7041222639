package import FeedModel
import FeedStaging
package import FeedStores
package import Foundation

extension PostgresStore {
    package func undo(_ undo: Undo, seconds: @escaping @Sendable () -> Double) async throws -> RunReport {
        try await commitThreads.run { try self.undoNow(undo, seconds: seconds) }
    }

    /// Does the same as ``undo(_:seconds:)`` on the caller's thread.
    func undoNow(_ undo: Undo, seconds: @escaping () -> Double) throws -> RunReport {
        try StackCommit(store: self, stop: Stop()) { transaction in
            try transaction.record(undo, seconds: seconds)
        }.run()
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

extension PostgresStore {
    package func changes(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws {
        try readHistories { try RowChanges($0, $1).report(query, body) }
    }

    package func withImages(
        _ changes: [ChangelogEntry], of run: Int64, keys: [String: [String]]
    ) throws -> [ChangelogEntry] {
        try readHistories {
            try RowChanges($0, $1, isTyped: true).withImages(changes, of: run, keys: keys, later: laterChanges)
        }
    }

    /// Reads all of it as it is at one moment.
    private func readHistories<Value>(_ body: (PostgresHistories, Ledger) throws -> Value) throws -> Value {
        do {
            return try snapshot { connection in
                try body(
                    PostgresHistories(connection: connection, tables: MergeTables(connection, tableDetails)),
                    connection.ledger())
            }
        } catch let error as PostgresError {
            throw StoreError(reading: error, store: description)
        }
    }

    /// Deletes runs that began before a date, with all that is kept of them, and histories that have ended and are empty.
    ///
    /// - Returns: true if there may be more.
    /// - Throws: ``StoreError``
    package func forgetRuns(before date: Date, keeping histories: [String: Date]) throws -> Bool {
        try transact {
            try PostgresHistories(connection: $0).forgetRuns(before: date, keeping: histories, $0.ledger().retention)
        }
    }

    package func historyProblem(of table: String) -> String? { PostgresHistories.problem(ofKeeping: table) }
}

/// Rows for those who look at them, in transactions in which the server refuses to write.
extension PostgresStore {
    package func browse<Value>(within limit: Duration?, _ body: (TableReader) throws -> Value) throws -> Value {
        let limit = limit.map { max(.milliseconds(2), $0) }
        let settings = limit.map { [(name: "statement_timeout", value: "\(Int($0 / .milliseconds(1)))")] } ?? []
        // A table that is locked is told from a query that takes long.
        let lock = min(LockLimits.question, limit.map { $0 / 2 } ?? LockLimits.question)
        do {
            return try snapshot(settings, lock: lock) { connection in
                // Somebody may have changed a table since the last run.
                let tables = MergeTables(connection, tableDetails, rereads: true)
                return try body(
                    TableReader(PostgresHistories(connection: connection, tables: tables), connection.ledger()))
            }
        } catch let error as PostgresError {
            if let limit, error.state == .queryCanceled { throw RowQuery.Problem.late(after: limit) }
            // A value that is none of the column's type, or a type without an order.
            let refused: Set<Substring> = ["22", "42"]
            let isRefused = error.state.map { refused.contains($0.classCode) && $0 != .insufficientPrivilege } == true
            if limit != nil, error.kind == .value || isRefused {
                throw RowQuery.Problem("the store rejects the query: \(error.message)")
            }
            throw StoreError(reading: error, store: description)
        }
    }
}
