package import FeedModel
import FeedStaging
import Foundation

/// The transaction of a commit: the steps around the merge of the staged rows, and their order.
package struct CommitTransaction {
    private let store: any CommitDriver
    private var ledger: Ledger { store.ledger }
    private var claims: CommitClaims { store.claims }

    package init(_ store: any CommitDriver) { self.store = store }

    /// Merges the rows, and records the run.
    ///
    /// - Parameter seconds: the run's duration so far, called after the merge.
    /// - Returns: the recorded commit.
    /// - Throws: ``StoreError`` for a run that is discarded, and the errors of the database.
    package func record(_ planned: Commit, as run: RecordedRun, seconds: () -> Double) throws -> Commit {
        var commit = planned
        let source = commit.report.source
        let watch = ClaimWatch(claims)
        var changes = ChangeDigest()
        let noteChange = commit.shown.map { _ in { (change: PlannedChange) in changes.add(change) } }
        let merge = store.driver.merge(
            mirrors: commit.mirrors, retention: commit.retention, claims: watch, onChange: noteChange,
            changelogKey: { [keys = commit.keys] in keys.columns(of: $0, changedBy: source) })
        try store.stage(commit.mirrors, commit.retention)
        // To stage the rows, or to wait for the locks, may have taken longer than the lease.
        try ledger.sources.checkLease(of: source)
        store.driver.beforeImages?.time = commit.report.startedAt + seconds()
        store.driver.beforeImages?.showsVersions = commit.showsVersions
        let stack = store.driver.stack
        var overlapping = try claims.overlappingRequests(
            of: source, stack.mirrored(and: commit.mirrors), check: commit.checkMirrors)
        overlapping.subtract(commit.changedRequests)
        // If a table has no rows at all, the rows that its requests stand for are gone.
        var losing = try claims.writersOfEmptiedTables(filledBy: stack)
        commit.report.counts = try merge.execute()
        commit.report.skipped += commit.report.counts.skipped
        let outOfScope = try ScopeTracker(merge: merge.context).outOfScopeRows()
        // A broken foreign key discards the run. Otherwise a run that exceeds a limit would wait for an acceptance that
        // cannot help.
        try store.finish()
        let isAsShown = commit.shown.map { $0 == changes } ?? true
        try merge.check(commit.limits, accepted: isAsShown ? commit.accepted : []) {
            try isAcceptedInAdvance(source, at: commit.report.startedAt)
        }
        guard isAsShown else {
            throw StoreError(.blocked, "the commit would make other changes than those that were shown")
        }
        let widened = try watch.widen(&commit, outOfScope: outOfScope)
        commit.report.seconds = seconds()
        // Rows that a foreign key has deleted or changed: the requests that wrote them, in this stack or another, send
        // them again.
        for table in merge.context.state.cascadedTables {
            losing.formUnion(try claims.requests(of: table))
        }
        if !commit.lookups.isEmpty {
            var changed = merge.context.state.changes.byTable
            for table in merge.context.state.cascadedTables { changed[table] = MergeCounts(updated: 1, deleted: 1) }
            for table in merge.context.state.expiredTables { changed[table, default: MergeCounts()].deleted += 1 }
            losing.formUnion(commit.requests(lookingUp: changed))
        }
        try ledger.requests.forgetValidators(of: losing)
        let changed = commit.requests.indices.filter { commit.revalidated[commit.requests[$0].key] == nil }
        let marks = try store.marks(of: changed.map { commit.requests[$0].tables })
        for (index, mark) in zip(changed, marks) { commit.requests[index].schema = mark }
        try ledger.write(commit, run: run)
        if let rejected = stack.rejected { try ledger.rejections.write(rejected, of: run) }
        try ledger.requests.widenScopes(of: widened)
        if commit.report.counts.deleted > 0 { try ledger.requests.forgetValidators(of: overlapping) }
        return commit
    }

    /// Merges the rows without the record of a run. An error of the code `blocked` has the counts of the merge, whose changes
    /// have all been reported.
    ///
    /// - Parameter source: the source whose rows they are; nil for rows that are merged without a question.
    package func merge(
        mirrors: [MirroredRows] = [], of source: String? = nil, check: Commit.MirrorCheck? = nil,
        limits: [ScopedRows: ChangeLimits] = [:], retention: Retention = Retention(),
        onChange: ((PlannedChange) throws -> Void)? = nil
    ) throws -> MergeCounts {
        let merge = store.driver.merge(mirrors: mirrors, retention: retention, onChange: onChange)
        try store.stage(mirrors, retention)
        if let source {
            _ = try claims.overlappingRequests(
                of: source, store.driver.stack.mirrored(and: mirrors), check: check)
        }
        let counts = try merge.execute()
        try store.finish()
        guard let source else { return counts }
        do {
            try merge.check(limits) { try isAcceptedInAdvance(source, at: Date()) }
        } catch var error as StoreError {
            error.counts = counts
            throw error
        }
        return counts
    }

    private func isAcceptedInAdvance(_ source: String, at date: Date) throws -> Bool {
        try ledger.acceptances.acceptance(of: source, at: date, locks: true).map { $0.run == nil } ?? false
    }
}

/// A store's side of a commit.
package protocol CommitDriver {
    var driver: any MergeDriver { get }
    var ledger: Ledger { get }
    var claims: CommitClaims { get }

    /// Brings the staged rows into the transaction, and locks the tables.
    func stage(_ mirrors: [MirroredRows], _ retention: Retention) throws

    /// Checks deferred constraints, and removes the staged rows.
    func finish() throws

    /// Returns a mark of the tables of each request's rows, by which it is seen later that these were lost.
    func marks(of tables: [Set<String>]) throws -> [String]
}
