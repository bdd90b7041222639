package import FeedModel
package import FeedStaging
package import FeedStores
import Merging
import PostgresClient

extension PostgresStore {
    /// Merges the staged rows of a run as a commit would, reports each change, and rolls everything back.
    ///
    /// Holds the tables' locks as long as a commit of the same stack would.
    /// - Throws: ``StoreError`` for an error that would discard the run, and the errors of `onChange`.
    package func plan(
        _ stack: StagedStack, mirrors: [MirroredRows], checkMirrors: @escaping Commit.MirrorCheck,
        limits: [ScopedRows: ChangeLimits], retention: Retention, source: String,
        onChange: @escaping (PlannedChange) throws -> Void
    ) throws -> MergeCounts {
        try planning(tables: knownTables(stack, mirrors, retention)) { transaction in
            try transaction.merging(stack, mirrors, retention).merge(
                mirrors: mirrors, of: source, check: checkMirrors, limits: limits, retention: retention,
                onChange: onChange)
        }
    }

    /// Runs a body in a transaction, and rolls it back.
    ///
    /// - Parameter tables: the tables that are known to be written; nil if only the transaction finds out.
    func planning(tables: Set<String>? = nil, _ body: (StackTransaction) throws -> MergeCounts) throws -> MergeCounts {
        try withMerge(of: tables) { transaction in
            // Thrown, as the transaction is to be rolled back.
            throw PlannedCounts(counts: try body(transaction))
        }
    }

    /// Merges and keeps the staged rows as a commit would, without the record of a run. For a store that is used for
    /// trials.
    ///
    /// - Throws: ``StoreError`` for an error that would discard a run; the store is then unchanged.
    package func load(_ stack: StagedStack) throws {
        _ = try withMerge(of: knownTables(stack, [], Retention())) {
            try $0.merging(stack).merge()
        }
    }

    private func withMerge(
        of tables: Set<String>?, _ body: (StackTransaction) throws -> MergeCounts
    ) throws -> MergeCounts {
        do {
            if let planning {
                return try planning.inTransaction(of: self, fills: true) { connection in
                    try body(StackTransaction(store: self, connection: connection, turn: nil))
                }
            }
            let turn = tables.map { TableTurn(tableTurns, $0) }
            defer { turn?.end() }
            try turn?.wait()
            return try connections.withConnection { connection in
                try connection.inTransaction(settings: lockWaits.settings(LockWaits.silenceBeforeLocks)) {
                    try body(StackTransaction(store: self, connection: connection, turn: turn))
                }
            }
        } catch let others as OtherTables {
            return try withMerge(of: tables?.union(others.tables), body)
        } catch let planned as PlannedCounts {
            return planned.counts
        } catch let error as PostgresError {
            throw StoreError(commit: error, store: description)
        }
    }
}

private struct PlannedCounts: Error {
    var counts: MergeCounts
}
