import FeedModel
import FeedStaging
import FeedStores
import Foundation
import PostgresClient

/// What a transaction writes to Tributary's own tables.
struct Ledger {
    let connection: PostgresConnection
    let leases: Leases

    /// Checks that a source is still this store's to run, as an early end: what decides is the record of the run, which
    /// is written under the lease alone.
    ///
    /// - Throws: ``StoreError`` where it was run under a lease that another has taken over.
    func checkLease(of source: String) throws {
        guard let lease = leases.lease(of: source) else { return }
        let holders = try connection.execute(
            "SELECT 1 FROM tributary_source WHERE source = $1 AND holder = $2 AND lease = $3",
            [.text(source), .text(lease.holder), .integer(lease.number)])
        if holders.isEmpty { throw StoreError.leaseLost(source) }
    }

    /// Draws the id of the run that the transaction will record.
    func drawRun(of report: RunReport) throws -> RecordedRun {
        let row = try connection.execute(
            """
            SELECT nextval(pg_get_serial_sequence('tributary_run', 'id')), pg_current_xact_id(),
                \(Self.lastChange)
            """)[0]
        var run = RecordedRun(
            id: try row.int64(0) ?? 0, transaction: row.string(1) ?? "", source: report.source,
            startedAt: report.startedAt)
        run.firstChange = try row.int64(2).map { $0 + 1 }
        return run
    }

    /// The last id that a row of the journal was given, by whichever transaction.
    private static let lastChange =
        "coalesce(pg_sequence_last_value(pg_get_serial_sequence('tributary_change', 'id')), 0)"

    /// Writes everything that a run leaves apart from its rows.
    ///
    /// - Parameter run: nil where no id has been drawn before.
    @discardableResult
    func write(_ commit: Commit, run: RecordedRun? = nil) throws -> RecordedRun {
        let report = commit.report
        let recorded = try record(commit, drawn: run)
        if let host = commit.busyHost {
            // Servers choose the names of origins, so expired entries are deleted.
            try connection.execute(
                "DELETE FROM tributary_host WHERE not_before <= $1", [PostgresDate.value(host.notBefore - host.wait)])
            try connection.execute(
                """
                INSERT INTO tributary_host VALUES ($1, $2, $3)
                ON CONFLICT (origin) DO UPDATE SET not_before = EXCLUDED.not_before, wait = EXCLUDED.wait
                """, [.text(host.origin), PostgresDate.value(host.notBefore), .double(host.wait)])
        }
        try RequestLedger(connection: connection, source: report.source).write(commit)
        let changes = report.counts.inserted + report.counts.updated + report.counts.deleted
        try forgetRuns(before: commit.forgetBefore, changes: max(50_000, 2 * changes))
        return recorded
    }

    /// Writes the run's report and the source's state.
    private func record(_ commit: Commit, drawn: RecordedRun?) throws -> RecordedRun {
        let report = commit.report
        let counts = report.counts
        let hasChanges = counts.inserted + counts.updated + counts.deleted > 0
        let state = commit.state
        let lease = leases.lease(of: report.source)
        func integer(_ number: Int) -> PostgresValue { .integer(Int64(number)) }
        func text(_ text: String?) -> PostgresValue? { text.map { .text($0.storable) } }
        let row = try connection.execute(
            """
            WITH run AS (
                INSERT INTO tributary_run
                (id, source, started_at, finished_at, outcome, inserted, updated, deleted, unchanged, replaced, skipped,
                 bytes, seconds, error, requests, kind, held, failing_since, first_change, last_change,
                 history, restored)
                SELECT coalesce($1::bigint, nextval(pg_get_serial_sequence('tributary_run', 'id'))), $2::text,
                    $3::timestamptz, $4::timestamptz, $5, $6::bigint, $7::bigint, $8::bigint, $9::bigint, $10::bigint,
                    $11::bigint, $12::bigint, $13::double precision, $14, $15::jsonb, $36::text,
                    $31::boolean, $32::timestamptz, $33::bigint,
                    CASE WHEN $33::bigint IS NOT NULL THEN \(Self.lastChange) END,
                    $37::boolean, $38::bigint
                RETURNING id
            ), state AS (
                INSERT INTO tributary_source AS s
                (source, outcome, last_run, last_commit, next_due, failures, error, note, gone, wait, asked_until,
                 declared, attempts, held, failing_since, undone)
                VALUES ($16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $34, $35, $39)
                ON CONFLICT (source) DO UPDATE SET outcome = EXCLUDED.outcome, last_run = EXCLUDED.last_run,
                    last_commit = EXCLUDED.last_commit, next_due = EXCLUDED.next_due, failures = EXCLUDED.failures,
                    error = EXCLUDED.error, note = EXCLUDED.note, gone = EXCLUDED.gone, wait = EXCLUDED.wait,
                    asked_until = EXCLUDED.asked_until, declared = EXCLUDED.declared, attempts = EXCLUDED.attempts,
                    undone = EXCLUDED.undone,
                    held = EXCLUDED.held, failing_since = EXCLUDED.failing_since,
                    held_until = CASE WHEN $29::text IS NULL THEN s.held_until
                        ELSE clock_timestamp() + interval '\(Leases.seconds) seconds' END
                WHERE $29::text IS NULL OR s.holder = $29::text AND s.lease = $30::bigint
                RETURNING s.source
            )\(commit.acceptance.sql(of: "$16"))
            SELECT run.id, pg_current_xact_id(), EXISTS (SELECT 1 FROM state) FROM run
            """,
            [
                (drawn?.id).map { .integer($0) }, .text(report.source), PostgresDate.value(report.startedAt),
                PostgresDate.value(report.startedAt + report.seconds), .text(report.outcome.rawValue),
                integer(counts.inserted), integer(counts.updated), integer(counts.deleted), integer(counts.unchanged),
                integer(counts.replaced), integer(report.skipped), integer(report.bytes), .double(report.seconds),
                text(report.error), .text(String(decoding: try JSONEncoder().encode(report.requests), as: UTF8.self)),
                .text(state.source), text(state.outcome?.rawValue), state.lastRun.map(PostgresDate.value),
                state.lastCommit.map(PostgresDate.value), state.nextDue.map(PostgresDate.value),
                integer(state.failures), text(state.error), text(state.note), text(state.gone),
                state.wait.map { .double($0) }, state.askedUntil.map(PostgresDate.value), text(state.declared),
                integer(state.attempts), text(lease?.holder), lease.map { .integer($0.number) },
                .bool(report.isHeld), report.failingSince.map(PostgresDate.value),
                hasChanges ? (drawn?.firstChange).map { .integer($0) } : nil, .bool(state.isHeldBack),
                state.failingSince.map(PostgresDate.value),
                text(report.kind?.rawValue),
                .bool(commit.keepsHistory), report.restoredRun.map { .integer($0) }, text(state.undone),
            ])[0]
        guard try row.bool(2) == true else { throw StoreError.leaseLost(report.source) }
        return RecordedRun(
            id: try row.int64(0) ?? 0, transaction: row.string(1) ?? "", source: report.source,
            startedAt: report.startedAt)
    }

    /// Deletes old runs but for the last of them, and their part of the journal but for its last row, a bounded number each
    /// time. Who has read up to that run knows so that nothing after it is forgotten. Rows that another commit deletes at
    /// this moment are left to it.
    private func forgetRuns(before date: Date, changes: Int) throws {
        try connection.execute(
            """
            WITH forgotten AS (
                DELETE FROM tributary_run WHERE id IN (
                    SELECT id FROM tributary_run
                    WHERE started_at < (SELECT max(started_at) FROM tributary_run WHERE started_at < $1)
                    ORDER BY started_at LIMIT 100 FOR UPDATE SKIP LOCKED)
                RETURNING id
            ), kept AS (
                SELECT min(id) AS first FROM tributary_run WHERE id NOT IN (SELECT id FROM forgotten)
            ), oldest AS (
                SELECT id, run FROM tributary_change ORDER BY id LIMIT 1
            )
            DELETE FROM tributary_change WHERE id IN (
                SELECT c.id FROM tributary_change c, kept, oldest
                WHERE oldest.run < kept.first AND c.run < kept.first AND c.id < oldest.id + $2
                AND c.id < (SELECT max(id) FROM tributary_change)
                FOR UPDATE OF c SKIP LOCKED)
            """, [PostgresDate.value(date), .integer(Int64(changes))])
    }

    /// Tells whoever listens that a commit has changed rows.
    func notify(_ report: RunReport, run: RecordedRun) throws {
        guard report.counts.inserted + report.counts.updated + report.counts.deleted > 0 else { return }
        try connection.execute(
            """
            SELECT pg_notify('tributary', json_build_object(
                'run', $1::bigint, 'source', $2::text, 'outcome', $3::text, 'daemon', $4::text)::text)
            """,
            [.integer(run.id), .text(report.source), .text(report.outcome.rawValue), .text(leases.holder)])
    }
}
