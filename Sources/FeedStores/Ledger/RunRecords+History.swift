import FeedModel
package import Foundation

/// The runs that have changed rows, and can be undone.
extension RunRecords {
    /// Returns the runs of a source that have committed rows, after a given one.
    package func commits(of source: String, after run: Int64) throws -> [CommittedRun] {
        try session.all(
            """
            SELECT \(columns(OwnTables.runsAlone)) FROM \(dialect.run)
            WHERE source = \(bind: source) AND id > \(bind: run) AND outcome = 'committed'
            ORDER BY id
            """
        ) { row in
            let run = try read(OwnTables.runsAlone, row)
            return CommittedRun(
                number: run.report.number ?? 0, startedAt: run.report.startedAt, counts: run.report.counts,
                hasHistory: run.hasHistory, restoredRun: run.report.restoredRun)
        }
    }

    /// Returns true if a run has kept before-images.
    package func hasHistory(_ run: Int64) throws -> Bool {
        try session.isTrue("SELECT history FROM \(dialect.run) WHERE id = \(bind: run)")
    }

    /// Returns the runs of a query that have kept before-images, in their order.
    ///
    /// - Parameter histories: further histories whose runs count, as SQL names them.
    package func withHistory(_ query: ChangeQuery, or histories: [String] = []) throws -> [RowChange] {
        let isKept = ["history"] + histories.map { "id IN (SELECT \(HistoryTable.run) FROM \($0))" }
        // Only what is asked for: a condition that may be none takes no index.
        var conditions: [SQLText] = ["(\(isKept.joined(separator: " OR ")))"]
        if let source = query.source { conditions.append("source = \(bind: source)") }
        if let run = query.run { conditions.append("id = \(bind: run)") }
        if let place = query.after { conditions.append("id >= \(bind: place.run)") }
        if let since = query.since { conditions.append("started_at >= \(bind: since)") }
        return try session.all(
            """
            SELECT id, source, \(dialect.date("started_at")) FROM \(dialect.run)\(conditions.whereClause) ORDER BY id
            """
        ) { row in
            RowChange(
                run: try row.int64(0) ?? 0, source: row.string(1) ?? "", startedAt: try row.date(2) ?? .distantPast)
        }
    }

    /// Returns the number of the last run, of a source or of any, that has kept before-images.
    package func lastWithHistory(of source: String?) throws -> Int64? {
        let isOfSource: SQLText = source.map { " AND source = \(bind: $0)" } ?? ""
        return try session.int64(
            "SELECT max(id) FROM \(dialect.run) WHERE history AND inserted + updated + deleted > 0\(isOfSource)")
    }

    /// Returns the number of the last run, of any source, that had ended by a time; 0 without one.
    package func last(endedBy time: Date) throws -> Int64 {
        try session.int64("SELECT max(id) FROM \(dialect.run) WHERE finished_at <= \(bind: time)") ?? 0
    }

    /// Returns the number of the oldest recorded run; 0 without one.
    package func firstNumber() throws -> Int64 { try session.int64("SELECT min(id) FROM \(dialect.run)") ?? 0 }
}
