import FeedModel
import FeedStaging
import FeedStores
import Foundation
import PostgresClient

/// The transaction in which staged rows are merged: what is done around the merge, and in which order.
struct StackTransaction {
    let store: PostgresStore
    let connection: PostgresConnection
    /// Ends when the transaction has ended.
    let turn: TableTurn

    var ledger: Ledger { Ledger(connection: connection, leases: store.leases) }
    var claims: CommitClaims { CommitClaims(store, connection) }

    /// Merges the rows, and records the run.
    func record(
        _ commit: Commit, merging stack: StagedStack, seconds: () -> Double
    ) throws -> (run: RecordedRun, report: RunReport) {
        var commit = commit
        let requests = RequestLedger(connection: connection, source: commit.report.source)
        try store.lockWaits.limit(connection, silence: LockWaits.silenceBeforeLocks)
        try ledger.checkLease(of: commit.report.source)
        let run = try ledger.drawRun(of: commit.report)
        let watch = ClaimWatch(claims)
        var merge = Merge(
            connection: connection, run: run.id, stack: stack, store: store, mirrors: commit.mirrors, claims: watch,
            retention: commit.retention)
        merge.keepsHistory = commit.keepsHistory
        try lock(merge)
        // The copy, or the wait for the tables, may have taken longer than the lease.
        try ledger.checkLease(of: commit.report.source)
        var rivals = try claims.rivals(
            of: commit.report.source, stack.mirrored(and: commit.mirrors), check: commit.checkMirrors)
        rivals.subtract(commit.changedRequests)
        // If a table has no rows at all, the rows that its requests stand for are gone.
        let bereft = try claims.bereft(by: merge.stack)
        commit.report.counts = try merge.execute()
        commit.report.skipped += commit.report.counts.skipped
        try merge.check(
            commit.limits, accepted: commit.accepted, of: commit.report.source, on: commit.report.startedAt)
        let widened = try watch.widen(&commit, strays: merge.strays())
        commit.report.seconds = seconds()
        // Rows that a foreign key has deleted or changed: the requests that wrote them, in this stack or another, send
        // them again.
        let taken = try merge.progress.tablesTakenFrom.reduce(into: bereft) { taken, table in
            taken.formUnion(try claims.requests(of: table, within: [:]))
        }
        try requests.forgetValidators(of: taken)
        try mark(&commit, merge)
        try ledger.write(commit, run: run)
        try store.historyForgetting.forget(commit, connection)
        try requests.widenScopes(of: widened)
        if commit.report.counts.deleted > 0 { try requests.forgetValidators(of: rivals) }
        try ledger.notify(commit.report, run: run)
        return (run, commit.report)
    }

    /// Notes with each request that has sent rows the columns of its tables, and whether they have rows.
    private func mark(_ commit: inout Commit, _ merge: Merge) throws {
        let requests = commit.requests.indices.filter { commit.revalidated[commit.requests[$0].key] == nil }
        let tables = requests.map { commit.requests[$0].tables }
        let marks = try store.tableDetails.marks(
            of: tables, merge.tables.tables(named: Set(tables.joined())), in: connection)
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
        try store.lockWaits.limit(connection, silence: LockWaits.silenceBeforeLocks)
        let merge = Merge(
            connection: connection, run: 0, stack: stack, store: store, mirrors: mirrors, retention: retention,
            onChange: onChange)
        try lock(merge)
        guard let source else { return try merge.execute() }
        _ = try claims.rivals(of: source, stack.mirrored(and: mirrors), check: check)
        let counts = try merge.execute()
        try merge.check(limits, of: source, on: Date())
        return counts
    }

    /// Copies the rows to the server, which takes the longest, and then locks the tables. What other commits have left is
    /// read afterwards: no other commit changes it until this one ends.
    func lock(_ merge: Merge) throws {
        try merge.prepare()
        try store.lockWaits.whileWaiting(connection) { try merge.lock(turn) }
        try store.requestIndex.renew(connection)
    }
}
