package import FeedModel
package import FeedStaging
package import FeedStores
import Foundation

/// The one place where the main store's rows are written.
extension PostgresStore {
    package func record(_ commit: Commit) async throws {
        try await transactInGroup { [leases] in try $0.ledger(leases).write(commit) }
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
        var pending: PendingTurn?
        while true {
            let step = try await commitThreads.run { [pending] () -> Step in
                var whole = self.stackCommit(stack, commit, stop, seconds: seconds)
                if let pending {
                    if !pending.isSmall { whole.small = nil }
                    whole.tables = pending.tables
                    whole.pauses = pending.pauses
                }
                do {
                    return .ended(try whole.run(pending?.turn, blocks: false))
                } catch let pending as PendingTurn {
                    return .waits(pending)
                }
            }
            switch step {
            case .ended(let report): return report
            case .waits(let next):
                pending = next
                // No thread waits: a long commit into one table leaves the threads to the commits into others.
                try await next.turn.granted(stop)
            }
        }
    }

    private enum Step {
        case ended(RunReport)
        case waits(PendingTurn)
    }

    /// Does the same as ``commit(_:merging:stop:seconds:)`` on the caller's thread.
    func merge(
        _ stack: StagedStack, with commit: Commit, stop: Stop = Stop(),
        seconds: @escaping () -> Double = { 0 }
    ) throws -> RunReport {
        try stackCommit(stack, commit, stop, seconds: seconds).run()
    }

    private func stackCommit(
        _ stack: StagedStack, _ commit: Commit, _ stop: Stop, seconds: @escaping () -> Double
    ) -> StackCommit {
        StackCommit(
            store: self, stop: stop,
            // Whatever is wrong with the stack, the merge says it.
            small: try? SmallCommit(stack, commit, self, seconds: seconds),
            tables: knownTables(stack, commit.mirrors, commit.retention)
        ) { transaction in
            try transaction.record(commit, merging: stack, seconds: seconds)
        }
    }

    /// Returns the tables that a commit writes, as SQL names them, as far as they are known without a query.
    func knownTables(_ stack: StagedStack, _ mirrors: [MirroredRows], _ retention: Retention) -> Set<String> {
        let names = stack.writtenTables + mirrors.map(\.table) + retention.writtenTables
        return Set(tableDetails.knownWithChildren(names).map(\.sql))
    }
}

extension StagedStack {
    /// The names of the tables whose rows may change.
    var writtenTables: [String] {
        parts.filter { $0.counts.rows > 0 || !$0.batches.isEmpty || $0.table.sync == .mirror }.map(\.table.table.name)
    }
}

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
            return try connections.withConnection(.work) { connection in
                try connection.inTransaction(settings: settings(Self.silenceBeforeLocks)) {
                    try body(StackTransaction(store: self, connection: connection, turn: turn))
                }
            }
        } catch let others as OtherTables {
            return try withMerge(of: tables?.union(others.tables), body)
        } catch let planned as PlannedCounts {
            return planned.counts
        } catch let error as PostgresError {
            throw failure(error)
        }
    }
}

private struct PlannedCounts: Error {
    var counts: MergeCounts
}

extension PostgresStore {
    package func purge(_ purge: Purge, isTrial: Bool) throws -> PurgeReport {
        /// Takes the transaction back.
        struct Trial: Error {}
        var done = PurgeReport(run: purge.commit.report)
        let commit = StackCommit(store: self, stop: Stop()) { transaction in
            let run = try transaction.ledger.runs.draw(purge.commit.report)
            let driver = PostgresMergeDriver(
                transaction.connection, self, StagedStack(path: nil, parts: []), run: run.id)
            done = try PurgeTransaction(purge, driver, driver.ledger, driver.claims).execute(as: run)
            if isTrial { throw Trial() }
            return (run, done.run)
        }
        do { _ = try commit.run() } catch is Trial {}
        return done
    }
}

/// The tables of the store, on the connection of a commit.
struct PostgresClaimedTables: ClaimedTables {
    let tableDetails: TableDetailsCache
    let connection: PostgresConnection

    func comparison(of table: String, columns: Set<String>, scopes: [[String: String]]) throws -> TableComparison {
        try tableDetails.comparison(of: table, columns: columns, scopes: scopes, in: connection)
    }

    func folds(_ columns: Set<String>, of table: String) throws -> Bool {
        guard !columns.isEmpty else { return true }
        return try tableDetails.details(of: table, in: connection)?.folds(columns) ?? true
    }

    func hasRows(_ table: String) throws -> Bool {
        guard let details = try tableDetails.details(of: table, in: connection) else { return false }
        return try connection.execute("SELECT EXISTS (SELECT 1 FROM \(details.sql))")[0].bool(0) == true
    }
}

extension PostgresStore {
    /// Returns the claims of the requests in a transaction.
    func claims(_ connection: PostgresConnection) -> CommitClaims {
        CommitClaims(connection.ledger(), PostgresClaimedTables(tableDetails: tableDetails, connection: connection))
    }
}
