package import FeedModel
package import FeedStaging
package import FeedStores
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
        try planning { transaction in
            try transaction.merge(
                stack, mirrors: mirrors, of: source, check: checkMirrors, limits: limits, retention: retention,
                onChange: onChange)
        }
    }

    /// Runs a body in a transaction, and takes everything back.
    func planning(_ body: (StackTransaction) throws -> MergeCounts) throws -> MergeCounts {
        try withMerge { transaction in
            // Thrown, as the transaction is to be rolled back.
            throw PlannedCounts(counts: try body(transaction))
        }
    }

    /// Merges and keeps the staged rows as a commit would, without the record of a run. For a store that is used for
    /// trials.
    ///
    /// - Throws: ``StoreError`` for an error that would discard a run; the store is then unchanged.
    package func load(_ stack: StagedStack) throws {
        _ = try withMerge { try $0.merge(stack, mirrors: [], of: nil, check: nil, onChange: nil) }
    }

    private func withMerge(_ body: (StackTransaction) throws -> MergeCounts) throws -> MergeCounts {
        do {
            if let planning {
                return try planning.inTransaction(of: self, fills: true) { connection in
                    let turn = TableTurn(tableTurns)
                    defer { turn.end() }
                    return try body(StackTransaction(store: self, connection: connection, turn: turn))
                }
            }
            return try connections.withConnection { connection in
                let turn = TableTurn(tableTurns)
                defer { turn.end() }
                return try connection.inTransaction {
                    try body(StackTransaction(store: self, connection: connection, turn: turn))
                }
            }
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
