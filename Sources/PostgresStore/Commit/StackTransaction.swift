import FeedModel
import FeedStaging
import FeedStores
import Foundation
import Ledger
import Merging
import PostgresClient

/// The transaction in which staged rows are merged: what is done around the merge, and in which order.
struct StackTransaction {
    let store: PostgresStore
    let connection: PostgresConnection
    /// Nil for a transaction that waits for others of its process at the server.
    let turn: TableTurn?

    var ledger: Ledger { connection.ledger(store.leases) }
    var claims: CommitClaims { store.claims(connection) }

    /// Merges the rows, and records the run.
    func record(
        _ commit: Commit, merging stack: StagedStack, seconds: () -> Double
    ) throws -> (run: RecordedRun, report: RunReport) {
        var commit = commit
        try checkTurn(stack, commit.mirrors, commit.retention)
        let run = try ledger.runs.draw(commit.report)
        let watch = ClaimWatch(claims)
        let driver = PostgresMergeDriver(
            connection, store, stack, run: run.id, keepsHistory: commit.keepsHistory)
        let merge = driver.merge(mirrors: commit.mirrors, retention: commit.retention, claims: watch)
        try lock(driver, commit.mirrors, commit.retention)
        // The copy, or the wait for the locks, may have taken longer than the lease.
        try ledger.sources.checkLease(of: commit.report.source)
        var overlapping = try claims.overlappingRequests(
            of: commit.report.source, stack.mirrored(and: commit.mirrors), check: commit.checkMirrors)
        overlapping.subtract(commit.changedRequests)
        // If a table has no rows at all, the rows that its requests stand for are gone.
        let writers = try claims.writersOfEmptiedTables(filledBy: driver.stack)
        commit.report.counts = try merge.execute()
        commit.report.skipped += commit.report.counts.skipped
        try merge.check(commit.limits, accepted: commit.accepted) {
            try isAcceptedInAdvance(commit.report.source, at: commit.report.startedAt)
        }
        let widened = try watch.widen(&commit, outOfScope: ScopeTracker(merge: merge.context).outOfScopeRows())
        commit.report.seconds = seconds()
        // Rows that a foreign key has deleted or changed: the requests that wrote them, in this stack or another, send
        // them again.
        let taken = try merge.context.state.cascadedTables.reduce(into: writers) { taken, table in
            taken.formUnion(try claims.requests(of: table, within: [:]))
        }
        try ledger.requests.forgetValidators(of: taken)
        try mark(&commit, driver.tables)
        try ledger.write(commit, run: run)
        try ledger.requests.widenScopes(of: widened)
        if commit.report.counts.deleted > 0 { try ledger.requests.forgetValidators(of: overlapping) }
        return (run, commit.report)
    }

    /// Notes with each request that has sent rows the columns of its tables, and whether they have rows.
    private func mark(_ commit: inout Commit, _ known: MergeTables) throws {
        let requests = commit.requests.indices.filter { commit.revalidated[commit.requests[$0].key] == nil }
        let tables = requests.map { commit.requests[$0].tables }
        let marks = try store.tableDetails.marks(
            of: tables, known.tables(named: Set(tables.joined())), in: connection)
        for (index, mark) in zip(requests, marks) { commit.requests[index].schema = mark }
    }

    /// Merges the rows, without the record of a run.
    ///
    /// - Parameter source: the source whose claims are checked against those of others; nil if none are.
    func merge(
        _ stack: StagedStack, mirrors: [MirroredRows], of source: String?, check: Commit.MirrorCheck?,
        limits: [ScopedRows: ChangeLimits] = [:], retention: Retention = Retention(),
        onChange: ((PlannedChange) throws -> Void)?
    ) throws -> MergeCounts {
        try checkTurn(stack, mirrors, retention)
        let driver = PostgresMergeDriver(connection, store, stack, run: 0)
        let merge = driver.merge(mirrors: mirrors, retention: retention, onChange: onChange)
        try lock(driver, mirrors, retention)
        guard let source else { return try merge.execute() }
        _ = try claims.overlappingRequests(of: source, stack.mirrored(and: mirrors), check: check)
        let counts = try merge.execute()
        try merge.check(limits) { try isAcceptedInAdvance(source, at: Date()) }
        return counts
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

    private func isAcceptedInAdvance(_ source: String, at date: Date) throws -> Bool {
        try connection.acceptance(of: source, at: date).map { $0.run == nil } ?? false
    }

    /// Copies the rows to the server, which takes the longest, and then locks the tables. What other commits have left is
    /// read afterwards: no other commit changes it until this one ends.
    func lock(_ driver: PostgresMergeDriver, _ mirrors: [MirroredRows], _ retention: Retention = Retention()) throws {
        try driver.prepare(mirrors)
        try store.lockWaits.whileWaiting(connection) { try driver.lock(mirrors, retention) }
        try store.requestIndex.renew(ledger)
    }
}
