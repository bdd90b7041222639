package import FeedModel
package import Foundation

/// The states of sources: `tributary_source`.
package struct SourceStates: LedgerPart {
    let ledger: Ledger

    /// Returns the states of all sources that ever ran, by name.
    package func all() throws -> [String: SourceState] {
        var states: [String: SourceState] = [:]
        try session.forEachRow(
            of: "SELECT \(columns(OwnTables.sources.reader)) FROM \(dialect.source) s WHERE s.failures IS NOT NULL"
        ) { row in
            let state = try read(OwnTables.sources.reader, row)
            states[state.source] = state
            return true
        }
        return states
    }

    package func state(of source: String) throws -> SourceState {
        try session.first(
            """
            SELECT \(columns(OwnTables.sources.reader)) FROM \(dialect.source) s
            WHERE s.source = \(bind: source) AND s.failures IS NOT NULL
            """
        ) { try read(OwnTables.sources.reader, $0) } ?? SourceState(source: source)
    }

    /// Returns the states of a source and of its requests, the latter by key, with one statement.
    ///
    /// - Parameter standsForItsRows: returns false for a request whose rows were lost with a dropped table or column.
    ///   Its
    ///   validators are left out.
    package func states(
        of source: String, standsForItsRows: (RequestState) throws -> Bool
    ) throws -> (source: SourceState, requests: [String: RequestState]) {
        var state = SourceState(source: source)
        var requests: [String: RequestState] = [:]
        let (ofSource, ofRequest) = (OwnTables.sources.reader, OwnTables.requests.reader)
        let first = ofSource.count(dialect.tables)
        let query: SQLText = """
            SELECT \(columns(ofSource)), \(columns(ofRequest))
            FROM (SELECT \(bind: source) AS source) asked
            LEFT JOIN \(dialect.source) s ON s.source = asked.source AND s.failures IS NOT NULL
            LEFT JOIN \(dialect.request) r ON r.source = asked.source
            """
        try session.forEachRow(of: query.frequent) { row in
            if !row.isNull(0) { state = try read(ofSource, row) }
            guard !row.isNull(first) else { return true }
            let request = try read(ofRequest, row, from: first).state
            requests[request.key] = request
            return true
        }
        for (key, request) in requests where try !request.hasNoVersion && !standsForItsRows(request) {
            requests[key]?.forgetVersion()
        }
        return (state, requests)
    }

    /// Returns the sources whose last run was not good.
    package func failing() throws -> [FailingSource] {
        try session.all(
            """
            SELECT source, \(dialect.date("failing_since")), error FROM \(dialect.source)
            WHERE failing_since IS NOT NULL
            """
        ) { row in
            try row.date(1).map { FailingSource(source: row.string(0) ?? "", since: $0, error: row.string(2)) }
        }.compactMap(\.self)
    }

    /// Records that a run of a source starts now.
    ///
    /// - Parameters:
    ///   - number: the number of consecutive runs of the source that have begun and not ended, including this one.
    ///   - wait: seconds from `now` until another process runs the source; nil leaves the due time unchanged.
    ///   - declared: the declaration that the run follows.
    /// - Throws: ``FeedModel/StoreError`` if the source is run under a lease that another process has taken over.
    package func recordAttempt(
        of source: String, number: Int, wait: Double?, declared: String, now: Date
    ) throws {
        let lease = ledger.leases?.lease(of: source)
        let isHeld: SQLText = lease.map { " WHERE \($0.isHeld)" } ?? ""
        let statement: SQLText = """
            INSERT INTO \(dialect.source) AS s (source, next_due, wait, declared, attempts, failures)
            VALUES (\(bind: source), \(bind: wait.map { now + $0 }), \(bind: wait), \(bind: declared), \(bind: number), 0)
            ON CONFLICT (source) DO UPDATE SET next_due = coalesce(excluded.next_due, s.next_due),
                wait = CASE WHEN excluded.next_due IS NULL THEN s.wait ELSE excluded.wait END,
                declared = excluded.declared, attempts = excluded.attempts, failures = coalesce(s.failures, 0)\(isHeld)
            RETURNING source
            """
        let recorded = try session.all(statement.frequent) { $0.string(0) }
        if recorded.isEmpty { throw StoreError.leaseLost(source) }
    }

    /// Records a note on a run in progress, which the record of the run replaces.
    ///
    /// - Throws: ``FeedModel/StoreError``, as ``recordAttempt(of:number:wait:declared:now:)``.
    package func recordNote(of source: String, _ note: String?) throws {
        try checkLease(of: source)
        try session.execute(
            "UPDATE \(dialect.source) SET note = \(bind: note?.storable) WHERE source = \(bind: source)")
    }

    /// Records the reason for which a source is not run any more.
    ///
    /// - Throws: ``FeedModel/StoreError``, as ``recordAttempt(of:number:wait:declared:now:)``.
    package func recordPause(of source: String, error: String, note: String, now: Date) throws {
        try checkLease(of: source)
        try session.execute(
            """
            UPDATE \(dialect.source) SET outcome = 'discarded', error = \(bind: error.storable),
                note = \(bind: note.storable), failing_since = coalesce(failing_since, \(bind: now))
            WHERE source = \(bind: source)
            """)
    }

    /// Pauses sources: nothing is fetched for them until ``resume(_:)``. A run in progress is not stopped, and leaves the
    /// pause unchanged.
    ///
    /// - Returns: the sources that were not paused so before.
    package func pause(_ sources: [String], now: Date) throws -> [String] {
        try sources.filter { source in
            try session.execute(
                """
                INSERT INTO \(dialect.source) AS s (source, failures, attempts, paused_at)
                VALUES (\(bind: source), 0, 0, \(bind: now))
                ON CONFLICT (source) DO UPDATE SET paused_at = excluded.paused_at, failures = coalesce(s.failures, 0)
                WHERE s.paused_at IS NULL
                """) > 0
        }
    }

    /// Makes sources run again that are paused: by an operator, because processes died during their runs, or because they
    /// were undone.
    ///
    /// - Returns: the sources that were paused.
    package func resume(_ sources: [String]) throws -> [String] {
        let resumed = try session.all(
            """
            UPDATE \(dialect.source) SET attempts = 0, next_due = NULL, error = NULL, note = NULL, undone = NULL,
                paused_at = NULL
            WHERE \(dialect.isAmong("source", sources)) AND (attempts >= \(bind: SourceState.deathsUntilPaused)
                OR undone IS NOT NULL OR paused_at IS NOT NULL)
            RETURNING source
            """
        ) { $0.string(0) }
        return sources.filter(Set(resumed).contains)
    }

    /// Makes sources due whose tables have been changed to their declarations, except during a wait that a server
    /// requested. The error of a discarded run is forgotten.
    package func makeDue(_ sources: [String], now: Date) throws {
        try session.execute(
            """
            UPDATE \(dialect.source) SET next_due = CASE WHEN asked_until > \(bind: now) THEN asked_until END,
                error = CASE WHEN outcome = 'discarded' THEN NULL ELSE error END
            WHERE \(dialect.isAmong("source", sources)) AND gone IS NULL
            """)
    }

    /// Makes sources that are switched off due when they are switched on again, even if they were gone.
    package func forgetGone(_ sources: [String]) throws {
        try session.execute(
            """
            UPDATE \(dialect.source) SET gone = NULL, next_due = NULL
            WHERE \(dialect.isAmong("source", sources)) AND gone IS NOT NULL
            """)
    }

    /// Deletes the state of a source, its permission to exceed the limits, and the records that its runs left out.
    package func forget(_ source: String) throws {
        for table in [dialect.source, dialect.acceptance, dialect.rejected] {
            try session.execute("DELETE FROM \(table) WHERE source = \(bind: source)")
        }
    }

    /// Returns the statement that writes the state of a commit's source, and returns a row unless the source is run under
    /// a lease that another process has taken over. It renews the lease, or gives it up with the end of the claim.
    func upsert(_ commit: Commit) throws -> SQLText {
        let state = commit.state
        var upsert = try OwnTables.sources.upsert(of: [state], dialect.tables)
        if commit.report.kind == .undo {
            upsert = "\(upsert), undone = \(bind: state.undone)"
        } else if state.undone == nil {
            upsert = "\(upsert), undone = NULL"
        } else {
            // ``resume(_:)`` may have ended the undo while the run held the feed back.
            upsert = "\(upsert), undone = CASE WHEN s.undone IS NOT NULL THEN \(bind: state.undone) END"
        }
        guard let lease = ledger.leases?.lease(of: state.source) else { return "\(upsert) RETURNING source" }
        let change: SQLText =
            commit.endsClaim ? "holder = NULL, held_until = NULL" : "held_until = \(dialect.now(plus: Leases.seconds))"
        return "\(upsert), \(change) WHERE \(lease.isLast) RETURNING source"
    }

    /// Checks that a source is still this process's to run, as an early end: what decides is the record of the run, which
    /// is written under the lease alone.
    ///
    /// - Throws: ``FeedModel/StoreError`` if the source is run under a lease that another process has taken over.
    package func checkLease(of source: String) throws {
        guard let lease = ledger.leases?.lease(of: source) else { return }
        let holds = try session.int64(
            "SELECT 1 FROM \(dialect.source) s WHERE s.source = \(bind: source) AND \(lease.isHeld)")
        if holds == nil { throw StoreError.leaseLost(source) }
    }
}

extension Ledger {
    package var sources: SourceStates { SourceStates(ledger: self) }
}

extension StoreError {
    package static func leaseLost(_ source: String) -> StoreError {
        StoreError(.unavailable, "the source '\(source)' is run by another daemon now")
    }
}
