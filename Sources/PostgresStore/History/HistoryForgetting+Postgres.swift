import FeedModel
import FeedStores
import PostgresClient

extension HistoryForgetting {
    /// Deletes entries of runs that are forgotten from some histories, a bounded number, and histories that have ended and
    /// are empty.
    func forget(_ commit: Commit, _ connection: PostgresConnection) throws {
        let counts = commit.report.counts
        var budget = max(HistoryTable.forgottenAtOnce, 2 * (counts.inserted + counts.updated + counts.deleted))
        let names = try next(before: commit.forgetBefore) { try HistoryName.all(connection).map(\.sql) }
        for name in names {
            guard budget > 0 else {
                isUnfinished(name)
                continue
            }
            // Somebody may have dropped it.
            guard try !connection.execute("SELECT to_regclass($1)", [.text(name)])[0].isNull(0) else { continue }
            // Those that another commit deletes at this moment are left to it.
            let row = try connection.execute(
                """
                WITH oldest AS (
                    SELECT h.\(HistoryTable.id) AS id, h.\(HistoryTable.run) AS run, r.first FROM (
                        SELECT \(HistoryTable.id), \(HistoryTable.run) FROM \(name) ORDER BY \(HistoryTable.id) LIMIT 1
                    ) h, (SELECT min(id) AS first FROM tributary_run) r
                ), deleted AS (
                    DELETE FROM \(name) WHERE \(HistoryTable.id) IN (
                        SELECT h.\(HistoryTable.id) FROM \(name) h, oldest
                        WHERE oldest.run < oldest.first AND h.\(HistoryTable.run) < oldest.first
                        AND h.\(HistoryTable.id) < oldest.id + \(budget)
                        FOR UPDATE OF h SKIP LOCKED)
                    RETURNING 1
                )
                SELECT (SELECT count(*) FROM deleted), coalesce((SELECT run < first FROM oldest), false),
                    NOT EXISTS (SELECT FROM oldest)
                """)[0]
            budget -= try row.int(0) ?? 0
            if try row.bool(1) == true { isUnfinished(name) }
            if try row.bool(2) == true { try dropFormer(name, connection) }
        }
    }

    /// Drops a history that has ended, unless somebody reads it.
    private func dropFormer(_ name: String, _ connection: PostgresConnection) throws {
        let isFormer = try HistoryName.all(connection).contains { $0.sql == name && $0.table == nil }
        guard isFormer else { return }
        do {
            try connection.inSavepoint {
                try connection.execute("LOCK TABLE \(name) IN ACCESS EXCLUSIVE MODE NOWAIT")
                try connection.execute("DROP TABLE \(name)")
            }
        } catch let error as PostgresError where error.kind == .statement {
            // It is in use, or something depends on it.
        }
    }
}
