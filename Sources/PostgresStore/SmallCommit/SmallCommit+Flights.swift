import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// The two round trips.
extension SmallCommit {
    /// The results of the first flight, which the second one records.
    struct Written {
        var run: RecordedRun
        var report: RunReport
        fileprivate var last: [PostgresStatement]
    }

    /// Begins the transaction, writes the rows, and checks what became of them. The transaction is left open.
    ///
    /// - Throws: ``Unsuitable``, `PostgresError` or ``StoreError``; the transaction is then rolled back.
    func write(_ connection: PostgresConnection) throws -> Written {
        do {
            let flight = FirstFlight(self, connection)
            let results = try general { try connection.pipeline(flight.statements()).results() }
            return try written(flight.answers(results), connection)
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Records the run, and commits.
    ///
    /// - Throws: ``Unsuitable`` or `PostgresError`; the transaction is then rolled back, or its outcome is unknown.
    func end(_ written: Written, _ connection: PostgresConnection) throws {
        _ = try general { try connection.commit(after: written.last) }
    }

    /// Turns the server's errors about rows and definitions, and those of tables that stay locked, into ``Unsuitable``:
    /// the general way names the row, and waits longer. Errors of the connection, of other transactions and of waits
    /// are thrown unchanged.
    private func general<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as PostgresError {
            let isAnyCommits = error.isConnectionLost || error.isRepeatable || error.isTransient
            let isLocked = error.state == .lockNotAvailable
            if isAnyCommits && !isLocked || error.isCommitUnknown { throw error }
            throw Unsuitable("\(error.finding)")
        }
    }

    private func written(_ answers: FirstFlight.Answers, _ connection: PostgresConnection) throws -> Written {
        var commit = commit
        commit.report.counts += try counts(answers.counts)
        try Unsuitable.unless(
            commit.requests(lookingUp: tables.mapValues { _ in commit.report.counts }).isEmpty,
            "rows that other requests look up")
        try check(answers, connection)
        commit.report.seconds = seconds()
        let changed = commit.requests.indices.filter { commit.revalidated[commit.requests[$0].key] == nil }
        let marks = TableDetailsCache.marks(
            of: changed.map { commit.requests[$0].tables }, tables, filled: [part.details.id])
        for (index, mark) in zip(changed, marks) { commit.requests[index].schema = mark }
        return Written(run: answers.run, report: commit.report, last: try last(commit, answers, connection))
    }

    /// Returns the changes, which keep to the limits.
    private func counts(_ counts: SmallPart.Counts) throws -> MergeCounts {
        let rows = MergeCounts(
            inserted: counts.inserted, updated: counts.updated,
            unchanged: counts.rows - counts.inserted - counts.updated)
        var changes = ScopeChanges()
        changes.add(rows, of: part.part)
        if deletes {
            changes.add(deleted: counts.deleted, of: ScopedRows(table: part.details.name, scope: part.table.scope))
        }
        try check(changes)
        var sum = MergeCounts(deleted: counts.deleted)
        sum += rows
        sum.replaced = part.rows.rows - counts.rows
        return sum
    }

    private func check(_ changes: ScopeChanges) throws {
        let exceeded = Unsuitable("limits of changes")
        do {
            try changes.check(
                commit.limits, unmet: [], accepted: commit.accepted, count: { _ in throw exceeded },
                isAcceptedInAdvance: { throw exceeded })
        } catch is StoreError {
            throw exceeded
        }
    }

    /// Checks that no other request has written the mirrored rows, and that the update has kept all rows within their
    /// scopes.
    private func check(_ answers: FirstFlight.Answers, _ connection: PostgresConnection) throws {
        let claims = store.claims(connection)
        if let mirrored {
            let overlapping: [RequestID]
            do {
                overlapping = try claims.overlappingRequests(
                    of: commit.report.source, mirrored, among: answers.candidates, check: commit.checkMirrors)
            } catch is StoreError {
                throw Unsuitable("rows that others mirror")
            }
            try Unsuitable.unless(
                commit.changedRequests.isSuperset(of: overlapping), "rows that other requests have written")
        }
        let others = answers.scopeColumns.subtracting(part.scopeColumns)
        try Unsuitable.unless(others.isDisjoint(with: part.writtenColumns), "scopes by columns that are written")
    }

    /// Returns the statements before COMMIT.
    private func last(
        _ commit: Commit, _ answers: FirstFlight.Answers, _ connection: PostgresConnection
    ) throws -> [PostgresStatement] {
        let ledger = connection.ledger(store.leases)
        let states = try ledger.requests.states(of: commit, answers.requests).map { state in
            try Unsuitable.unless(
                answers.requests[state.key]?.state.hasClaims(of: state) == true,
                "requests that claim other rows than before")
            return RequestRow(source: commit.report.source, state: state)
        }
        let requests = try OwnTables.requests.upsert(of: states, .postgres)
        return try [ledger.recording(commit, drawn: answers.run).prepared]
            + (states.isEmpty ? [] : [requests.prepared])
            + ledger.listings.writing(commit).map { try $0.prepared }
    }
}
