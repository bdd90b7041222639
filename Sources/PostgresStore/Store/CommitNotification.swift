import FeedModel
import FeedStores
import PostgresClient

/// What other processes are told of commits.
struct CommitNotification {
    let connection: PostgresConnection
    let leases: Leases

    /// Tells whoever listens that a commit has changed rows.
    func notify(_ report: RunReport, run: RecordedRun) throws {
        guard let statement = statement(of: report, run: run) else { return }
        try connection.execute(statement.sql, statement.parameters)
    }

    /// - Returns: nil where the commit has changed no row.
    func statement(of report: RunReport, run: RecordedRun) -> PostgresStatement? {
        guard report.counts.inserted + report.counts.updated + report.counts.deleted > 0 else { return nil }
        return PostgresStatement(
            """
            SELECT pg_notify('tributary', json_build_object(
                'run', $1::bigint, 'source', $2::text, 'outcome', $3::text, 'daemon', $4::text)::text)
            """,
            [.integer(run.id), .text(report.source), .text(report.outcome.rawValue), .text(leases.holder)],
            isPrepared: true)
    }
}
