package import FeedModel
package import Foundation

extension RunRecords {
    /// Returns what the last runs of several sources did, by source: with three statements, however many sources there are.
    ///
    /// - Parameters:
    ///   - sources: the sources, with the times at which their last commits ended.
    ///   - limit: the most runs of each.
    ///   - start: the beginning of the time whose changes are counted.
    package func recent(
        of sources: [(name: String, lastCommit: Date?)], limit: Int, changedSince start: Date
    ) throws -> [String: RecentRuns] {
        var found: [String: RecentRuns] = [:]
        // A part for each source, which reads the index on source and id from its end.
        let last = Self.union(
            sources.map { source -> SQLText in
                """
                SELECT id, source, outcome, \(dialect.date("started_at")), \(dialect.date("finished_at")), polls,
                    inserted + updated + deleted
                FROM \(dialect.run) WHERE source = \(bind: source.name) ORDER BY id DESC LIMIT \(bind: limit)
                """
            })
        for (source, run) in try session.all(last, Self.run) { found[source, default: RecentRuns()].runs.append(run) }
        for source in found.keys { found[source]?.runs.sort { $0.number < $1.number } }
        let commits = Self.union(
            sources.compactMap { source -> SQLText? in
                guard let end = source.lastCommit else { return nil }
                return """
                    SELECT source, inserted + updated + unchanged FROM \(dialect.run)
                    WHERE source = \(bind: source.name) AND outcome = 'committed' AND kind IS NULL AND id <= coalesce((
                        SELECT id FROM \(dialect.run) WHERE started_at > \(dialect.time(end))
                        ORDER BY started_at, id LIMIT 1), \(bind: Int64.max))
                    ORDER BY id DESC LIMIT 1
                    """
            })
        for (source, rows) in try session.all(commits, { ($0.string(0) ?? "", try $0.int(1)) }) {
            found[source, default: RecentRuns()].rows = rows
        }
        let changes = try session.all(
            """
            SELECT source, CAST(sum(inserted + updated + deleted) AS BIGINT) FROM \(dialect.run)
            WHERE \(dialect.isAmong("source", sources.map(\.name))) AND started_at >= \(dialect.time(start))
            AND id > coalesce((
                SELECT id FROM \(dialect.run) WHERE started_at < \(dialect.time(start))
                ORDER BY started_at DESC, id DESC LIMIT 1), 0)
            GROUP BY source
            """
        ) { ($0.string(0) ?? "", try $0.int(1) ?? 0) }
        for (source, count) in changes { found[source, default: RecentRuns()].changedRows = count }
        return found
    }

    /// Returns the runs of a source before and after one.
    package func neighbours(of run: Int64, of source: String) throws -> (previous: Int64?, next: Int64?) {
        let found = try session.first(
            """
            SELECT (SELECT max(id) FROM \(dialect.run) WHERE source = \(bind: source) AND id < \(bind: run)),
                (SELECT min(id) FROM \(dialect.run) WHERE source = \(bind: source) AND id > \(bind: run))
            """
        ) { (try $0.int64(0), try $0.int64(1)) }
        return found ?? (nil, nil)
    }

    /// Returns the first good refresh of a source after a run, and the first commit after it that changed rows.
    package func following(_ run: Int64, of source: String) throws -> (refresh: RunReport?, change: Int64?) {
        let refresh = try session.first(
            """
            SELECT \(columns(OwnTables.runs.reader)) FROM \(dialect.run)
            WHERE source = \(bind: source) AND id > \(bind: run) AND outcome IN ('committed', 'unchanged')
            AND kind IS NULL ORDER BY id LIMIT 1
            """
        ) { try read(OwnTables.runs.reader, $0).report }
        let change = try session.int64(
            """
            SELECT id FROM \(dialect.run)
            WHERE source = \(bind: source) AND id > \(bind: run) AND outcome = 'committed'
            AND (inserted + updated + deleted > 0 OR restored IS NOT NULL) ORDER BY id LIMIT 1
            """)
        return (refresh, change)
    }

    private static func run(_ row: any SQLRow) throws -> (String, RecentRuns.Run) {
        let run = RecentRuns.Run(
            number: try row.int64(0) ?? 0, outcome: row.string(2).flatMap(RunOutcome.init) ?? .discarded,
            startedAt: try row.date(3) ?? .distantPast, finishedAt: try row.date(4), polls: try row.int(5) ?? 1,
            changedRows: try row.int(6) ?? 0)
        return (row.string(1) ?? "", run)
    }

    /// Returns one statement for several; one without a row for none.
    private static func union(_ parts: [SQLText]) -> SQLText {
        var sql: SQLText = parts.isEmpty ? "SELECT NULL WHERE false" : ""
        for (index, part) in parts.enumerated() {
            sql =
                "\(sql)\(SQLText(index > 0 ? " UNION ALL " : ""))SELECT * FROM (\(part)) AS part_\(SQLText(String(index)))"
        }
        return sql.once
    }
}
