package import FeedModel
package import Foundation

/// The runs: `tributary_run`.
package struct RunRecords: LedgerPart {
    let ledger: Ledger

    /// Draws the id of the run that the transaction will record.
    ///
    /// - Throws: ``FeedModel/StoreError`` if the source is run under a lease that another process has taken over.
    package func draw(_ report: RunReport) throws -> RecordedRun {
        let lease = ledger.leases?.lease(of: report.source)
        let isHeld: SQLText =
            lease.map { lease in
                ", EXISTS (SELECT 1 FROM \(dialect.source) s WHERE s.source = \(bind: report.source) AND \(lease.isHeld))"
            } ?? ""
        let drawn = try session.first("SELECT \(drawing)\(isHeld)") { row in
            if lease != nil, try row.bool(3) != true { throw StoreError.leaseLost(report.source) }
            return try Self.drawn(report, row)
        }
        guard let drawn else { throw StoreError(.database, "no id could be drawn for a run of '\(report.source)'") }
        return drawn
    }

    /// The columns of a SELECT that draws the id of a run: the id, the transaction's, and the changelog's last one.
    package var drawing: String { "\(dialect.nextRun), \(dialect.transaction), \(dialect.lastChange)" }

    /// Reads a row that begins with ``drawing``.
    package static func drawn(_ report: RunReport, _ row: any SQLRow) throws -> RecordedRun {
        RecordedRun(
            id: try row.int64(0) ?? 0, transaction: row.string(1) ?? "", source: report.source,
            startedAt: report.startedAt, firstChange: try row.int64(2).map { $0 + 1 })
    }

    /// Returns the statement that adds a run, and returns its id.
    ///
    /// - Parameter drawn: nil if no id has been drawn before.
    func insertion(_ commit: Commit, drawn: RecordedRun?) throws -> SQLText {
        let counts = commit.report.counts
        let hasChanges = counts.changed > 0
        let firstChange = hasChanges ? drawn?.firstChange : nil
        let row = RunRow(report: commit.report, hasHistory: commit.keepsHistory, firstChange: firstChange)
        let insertion = try OwnTables.runs.insertion(
            of: [row], dialect.tables,
            [
                "id": drawn.map { "\(bind: $0.id)" } ?? SQLText(dialect.nextRun),
                "last_change": SQLText(firstChange == nil ? "NULL" : dialect.lastChange),
            ])
        return "\(insertion) RETURNING id"
    }

    /// The seconds for which a row counts the polls that follow. Old rows are deleted in their order, so one that grew for
    /// ever would keep all that follow it.
    private static let secondsOfRow = 86_400.0

    /// Returns the statement that counts an unchanged poll in the row of the unchanged poll before it, and returns the
    /// id of that row; nil for a run that needs a row of its own.
    ///
    /// The statement finds no row where the answers differ, and where a hook has told of the source's failure or
    /// staleness: only a new row tells it that the source has recovered.
    func repetition(_ report: RunReport) throws -> SQLText? {
        guard report.outcome == .unchanged, report.kind == nil, report.failingSince == nil, !report.requests.isEmpty
        else { return nil }
        let requests: SQLText = "\(bind: try report.requests.bound)"
        let hasLonger: SQLText = "seconds >= \(bind: report.seconds)"
        return """
            UPDATE \(dialect.run) SET polls = polls + 1, finished_at = \(dialect.time(report.finishedAt)),
                seconds = CASE WHEN \(hasLonger) THEN seconds ELSE \(bind: report.seconds) END,
                requests = CASE WHEN \(hasLonger) THEN requests ELSE \(requests) END
            WHERE id = (SELECT max(id) FROM \(dialect.run) WHERE source = \(bind: report.source))
            AND outcome = 'unchanged' AND kind IS NULL AND failing_since IS NULL
            AND started_at > \(dialect.time(report.startedAt - Self.secondsOfRow))
            AND finished_at < \(dialect.time(report.startedAt))
            AND \(dialect.withoutSeconds("requests")) = \(dialect.withoutSeconds(requests))
            AND NOT EXISTS (SELECT 1 FROM \(dialect.hookSource) WHERE source = \(bind: report.source))
            RETURNING id
            """
    }

    /// Returns whether a run is in the store, also where the row of an earlier poll counts it.
    package func isRecorded(_ run: RecordedRun) throws -> Bool {
        try session.isTrue(
            """
            SELECT EXISTS (SELECT 1 FROM \(dialect.run)
                WHERE id = \(bind: run.id) AND source = \(bind: run.source)
                AND \(dialect.time(run.startedAt)) BETWEEN started_at AND finished_at)
            """)
    }

    /// Returns the last runs of one source or of all, the latest first.
    package func last(of source: String? = nil, failed: Bool = false, limit: Int) throws -> [RunReport] {
        var conditions: [SQLText] = []
        if let source { conditions.append("source = \(bind: source)") }
        if failed { conditions.append("outcome IN ('discarded', 'blocked')") }
        return try session.all(
            """
            SELECT \(columns(OwnTables.runs.reader)) FROM \(dialect.run)\(conditions.whereClause)
            ORDER BY id DESC LIMIT \(bind: limit)
            """
        ) { try read(OwnTables.runs.reader, $0).report }
    }

    /// Returns a run with the reports of its requests; nil if it was deleted.
    package func run(_ number: Int64) throws -> RunReport? {
        try session.first("SELECT \(columns(OwnTables.runs.reader)) FROM \(dialect.run) WHERE id = \(bind: number)") {
            try read(OwnTables.runs.reader, $0).report
        }
    }

    /// Returns the last run of a source that was blocked; nil if the source is not blocked now.
    package func blocked(of source: String) throws -> RunReport? {
        try session.first(
            """
            SELECT \(columns(OwnTables.runs.reader)) FROM \(dialect.run)
            WHERE source = \(bind: source) AND outcome = 'blocked' AND kind IS NULL
            AND EXISTS (SELECT 1 FROM \(dialect.source) s WHERE s.source = \(bind: source) AND s.blocked)
            ORDER BY id DESC LIMIT 1
            """
        ) { try read(OwnTables.runs.reader, $0).report }
    }

    /// Returns when the first run of a source began that is still known.
    package func firstBeginning(of source: String) throws -> Date? {
        try session.first(
            """
            SELECT \(dialect.date("started_at")) FROM \(dialect.run) WHERE source = \(bind: source)
            ORDER BY id LIMIT 1
            """
        ) { try $0.date(0) }
    }

    /// Returns the sums of a source's runs since a time, in consecutive spans of time. Spans without a run are left
    /// out. The polls that one row counts are taken to have come at equal intervals.
    ///
    /// - Parameter seconds: the length of a span.
    package func figures(of source: String, from start: Date, spansOf seconds: Double) throws -> [RunFigures] {
        // A row that counts polls may begin before the first span.
        let before = (Self.secondsOfRow / seconds).rounded(.up)
        let first = start.timeIntervalSince1970 - before * seconds
        func span(_ column: String) -> SQLText {
            dialect.wholePart("(\(dialect.epoch(column)) - \(bind: first)) / \(bind: seconds)")
        }
        var spans: [Int: RunFigures] = [:]
        try session.forEachRow(
            of: """
                SELECT \(span("started_at")), CASE WHEN polls > 1 THEN \(span("finished_at")) END, \(RunFigures.columns)
                FROM \(dialect.run) WHERE source = \(bind: source) AND finished_at >= \(dialect.time(start))
                -- Runs come in the order of their beginnings: those before the last one of them are not looked at.
                AND id >= coalesce((
                    SELECT id FROM \(dialect.run) WHERE source = \(bind: source) AND started_at < \(dialect.time(start))
                    ORDER BY id DESC LIMIT 1), 0)
                GROUP BY 1, 2
                """
        ) { row in
            var figures = RunFigures(span: (try row.int(0) ?? 0) - Int(before))
            figures.committed = try row.int(2) ?? 0
            figures.unchanged = try row.int(3) ?? 0
            figures.discarded = try row.int(4) ?? 0
            figures.blocked = try row.int(5) ?? 0
            figures.cancelled = try row.int(6) ?? 0
            figures.inserted = try row.int(7) ?? 0
            figures.updated = try row.int(8) ?? 0
            figures.deleted = try row.int(9) ?? 0
            figures.bytes = try row.int(10) ?? 0
            figures.seconds = try row.double(11) ?? 0
            let last = try row.int(1).map { $0 - Int(before) }
            for part in figures.spread(to: last ?? figures.span) where part.span >= 0 {
                spans[part.span, default: RunFigures(span: part.span)].add(part)
            }
            return true
        }
        return spans.values.sorted { $0.span < $1.span }
    }
}

extension Ledger {
    package var runs: RunRecords { RunRecords(ledger: self) }
}
