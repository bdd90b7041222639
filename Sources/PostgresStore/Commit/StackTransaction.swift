import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// The transaction of a merge: the steps around it, and their order.
struct StackTransaction {
    let store: PostgresStore
    let connection: PostgresConnection
    /// Nil for a transaction that waits for others of its process at the server.
    let turn: TableTurn?

    var ledger: Ledger { connection.ledger(store.leases) }

    /// Merges the rows, and records the run.
    func record(
        _ commit: Commit, merging stack: StagedStack, seconds: () -> Double
    ) throws -> (run: RecordedRun, report: RunReport) {
        try checkTurn(stack, commit.mirrors, commit.retention)
        let run = try ledger.runs.draw(commit.report)
        let driver = PostgresMergeDriver(
            connection, store, stack, run: run.id, keepsHistory: commit.keepsHistory)
        return (run, try CommitTransaction(driver).record(commit, as: run, seconds: seconds).report)
    }

    /// Returns the transaction that merges rows without the record of a run.
    func merging(
        _ stack: StagedStack, _ mirrors: [MirroredRows] = [], _ retention: Retention = Retention()
    ) throws -> CommitTransaction {
        try checkTurn(stack, mirrors, retention)
        return CommitTransaction(PostgresMergeDriver(connection, store, stack, run: 0))
    }

    /// Checks that the turn is for all tables that a merge may write.
    ///
    /// - Throws: ``OtherTables``
    private func checkTurn(_ stack: StagedStack, _ mirrors: [MirroredRows], _ retention: Retention) throws {
        guard let turn else { return }
        let tables = MergeTables(connection, store.tableDetails)
        let names = Set(stack.writtenTables + mirrors.map(\.table) + retention.writtenTables)
        let written = try tables.withChildren(Array(tables.tables(named: names).values))
        let missing = turn.missing(Set(written.map(\.sql)))
        if !missing.isEmpty { throw OtherTables(tables: missing) }
    }
}

extension PostgresMergeDriver: CommitDriver {
    var driver: any MergeDriver { self }
    var ledger: Ledger { connection.ledger(store.leases) }
    var claims: CommitClaims { store.claims(connection) }

    /// Copies the rows to the server, which takes the longest, and then locks the tables.
    func stage(_ mirrors: [MirroredRows], _ retention: Retention) throws {
        try prepare(mirrors)
        try lock(mirrors, retention)
    }

    // The merge has checked the constraints, and the tables go with the transaction.
    func finish() throws {}

    func marks(of tables: [Set<String>]) throws -> [String] {
        try store.tableDetails.marks(of: tables, self.tables.tables(named: Set(tables.joined())), in: connection)
    }
}
