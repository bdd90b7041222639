package import FeedModel
import FeedStaging
import FeedStores
package import Foundation
import GRDB

/// The stored states of sources, requests and runs.
extension SQLiteStore {
    /// Returns the states of all sources that ever ran, by name.
    package func sourceStates() throws -> [String: SourceState] {
        try pool.read { db in
            try Row.fetchCursor(db, sql: "SELECT \(SourceState.columns(of: "s")) FROM tributary_source s").map(
                SourceState.init
            )
            .reduce(into: [:]) { $0[$1.source] = $1 }
        }
    }

    package func sourceState(_ source: String) throws -> SourceState { try pool.read { try $0.sourceState(source) } }

    /// Returns the states of a source and of its requests, the latter by key.
    package func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        // One statement on a separate connection: a transaction and a place in the pool would each double its cost.
        try states.unsafeRead { db in
            let statement = try db.cachedStatement(sql: Self.statesSQL)
            var state = SourceState(source: source)
            var requests: [String: RequestState] = [:]
            let rows = try Row.fetchCursor(statement, arguments: [source])
            while let row = try rows.next() {
                if row[0] as String? != nil { state = SourceState(row) }
                guard let key = row[SourceState.columnCount] as String? else { continue }
                requests[key] = RequestState(row, from: SourceState.columnCount)
            }
            for (key, request) in requests where !request.validators.isEmpty || request.digest != nil {
                guard try !tableInfos.stands(request.schema, of: request.tables, in: db) else { continue }
                // Its rows were lost with a table or a column that somebody has dropped.
                requests[key]?.validators = Validators()
                requests[key]?.digest = nil
            }
            return (state, requests)
        }
    }

    private static let statesSQL = """
        SELECT \(SourceState.columns(of: "s")), \(RequestState.columns(of: "r"))
        FROM (SELECT ? AS source) asked
        LEFT JOIN tributary_source s ON s.source = asked.source
        LEFT JOIN tributary_request r ON r.source = asked.source
        """

    /// Returns how a table compares the columns of a scope.
    package func comparison(of table: String, columns: Set<String>) throws -> TableComparison {
        try states.unsafeRead { try tableInfos.comparison(of: table, columns: columns, in: $0) }
    }

    /// Notes that a run of a source starts now. A process that starts before the run has ended does not start another
    /// at once, and knows that the process before it died during the run.
    ///
    /// - Parameters:
    ///   - number: the number of consecutive runs of the source that have begun and not ended, including this one.
    ///   - wait: seconds from `now` until such a process asks again; nil leaves the due time unchanged.
    ///   - declared: the declaration that the run follows.
    package func noteAttempt(
        _ source: String, number: Int, wait: Double?, declared: String, now: Date
    ) async throws {
        let due = wait.map { StoreDate.text(now + $0) }
        try await writeInGroup { db in
            try db.execute(
                cached: """
                    INSERT INTO main.tributary_source (source, next_due, wait, declared, attempts, failures)
                    VALUES (:source, :due, :wait, :declared, :number, 0)
                    ON CONFLICT (source) DO UPDATE SET next_due = coalesce(:due, next_due),
                    wait = iif(:due IS NULL, wait, :wait), declared = :declared, attempts = :number
                    """,
                ["source": source, "due": due, "wait": wait, "declared": declared, "number": number])
        }
    }

    /// Notes the reason for which a source is not run any more.
    package func noteHold(_ source: String, error: String, note: String) async throws {
        try await writeInGroup { db in
            try db.execute(
                cached: """
                    UPDATE main.tributary_source SET outcome = ?, error = ?, note = ?,
                    failing_since = coalesce(failing_since, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) WHERE source = ?
                    """,
                [RunOutcome.discarded.rawValue, error, note, source])
        }
    }

    /// Allows sources to run again that are held because processes died during their runs.
    ///
    /// - Returns: the sources that were held.
    package func release(_ sources: [String]) throws -> [String] {
        try pool.write { db in
            try sources.filter { source in
                try db.execute(
                    sql: """
                        UPDATE tributary_source
                        SET attempts = 0, next_due = NULL, error = NULL, note = NULL, undone = NULL
                        WHERE source = ? AND (attempts >= ? OR undone IS NOT NULL)
                        """, arguments: [source, SourceState.deathsUntilHeld])
                return db.changesCount > 0
            }
        }
    }

    /// Cuts due times, and the waits that hosts asked for, to the waits that were decided when they were stored. A
    /// clock that was wrong at that moment may have put them years ahead.
    package func cutWaits(to now: Date) throws { try pool.write { try $0.cutWaits(to: now) } }

    /// Does the same as ``cutWaits(to:)`` without blocking the caller's thread, for a clock that was set back from
    /// `former` to `now`. A time stored by the former clock keeps its remaining wait.
    package func cutWaits(to now: Date, setBackFrom former: Date) async throws {
        try await writeInGroup { try $0.cutWaits(to: now, from: former) }
    }

    /// Makes sources that are switched off due when they are switched on again, even if they were gone.
    package func forgetGone(_ sources: [String]) throws {
        guard !sources.isEmpty else { return }
        let gone = try pool.read {
            try String.fetchSet($0, sql: "SELECT source FROM tributary_source WHERE gone IS NOT NULL")
        }
        for source in sources where gone.contains(source) {
            try pool.write {
                try $0.execute(
                    sql: "UPDATE tributary_source SET gone = NULL, next_due = NULL WHERE source = ?",
                    arguments: [source])
            }
        }
    }

    /// Returns the value of an SQL expression over the rows of a table, within a scope; nil for NULL.
    package func value(of expression: String, in table: String, scope: [String: String]) throws -> String? {
        let conditions = scope.sorted { $0.key < $1.key }.map { "\($0.key.sqlIdentifier) = \($0.value.sqlLiteral)" }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        do {
            return try pool.read {
                try String.fetchOne($0, sql: "SELECT \(expression) FROM \(table.sqlIdentifier)\(filter)")
            }
        } catch let error as DatabaseError {
            throw StoreError(.schema, "${last:\(expression)} of table '\(table)': \(error.message ?? "\(error)")")
        }
    }

    /// Returns the origins that asked for a pause, with the end of each pause.
    package func busyHosts() throws -> [String: Date] {
        let rows = try pool.read { try Row.fetchAll($0, sql: "SELECT origin, not_before FROM tributary_host") }
        return Dictionary(rows.compactMap { row in StoreDate.date(row["not_before"]).map { (row["origin"], $0) } }) {
            $1
        }
    }

    /// Returns the last runs of one source or of all, the latest first.
    package func runs(of source: String? = nil, failed: Bool = false, limit: Int) throws -> [RunReport] {
        let conditions = [source.map { _ in "source = :source" }, failed ? "outcome = 'discarded'" : nil].compactMap(
            \.self)
        let values: [String: (any DatabaseValueConvertible)?] = ["source": source, "limit": limit]
        return try pool.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM tributary_run \(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "))
                    ORDER BY id DESC LIMIT :limit
                    """, arguments: StatementArguments(values.compactMapValues(\.self))
            ).map(RunReport.init)
        }
    }
}

extension SQLiteStore {
    package func recordedRun(_ number: Int64) throws -> RunReport? {
        try pool.read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM tributary_run WHERE id = ?", arguments: [number]).map(
                RunReport.init)
        }
    }

    package func figures(of source: String, from start: Date, spansOf seconds: Double) throws -> [RunFigures] {
        try pool.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT CAST((strftime('%s', started_at) - :start) / :seconds AS INTEGER), \(RunFigures.columns)
                    FROM tributary_run WHERE source = :source AND started_at >= :text
                    -- Runs come in the order of their beginnings: those before the first one are not looked at.
                    AND id > coalesce((
                        SELECT id FROM tributary_run WHERE source = :source AND started_at < :text
                        ORDER BY id DESC LIMIT 1), 0)
                    GROUP BY 1 ORDER BY 1
                    """,
                arguments: [
                    "start": start.timeIntervalSince1970, "seconds": seconds, "source": source,
                    "text": StoreDate.text(start),
                ]
            ).map { row in
                var figures = RunFigures(span: max(row[0], 0))
                figures.committed = row[1]
                figures.unchanged = row[2]
                figures.discarded = row[3]
                figures.cancelled = row[4]
                figures.inserted = row[5]
                figures.updated = row[6]
                figures.deleted = row[7]
                figures.bytes = row[8]
                figures.seconds = row[9]
                return figures
            }
        }
    }

    package func firstRun(of source: String) throws -> Date? {
        try pool.read { db in
            StoreDate.date(
                try String.fetchOne(
                    db, sql: "SELECT started_at FROM tributary_run WHERE source = ? ORDER BY id LIMIT 1",
                    arguments: [source]))
        }
    }
}

extension Database {
    fileprivate func sourceState(_ source: String) throws -> SourceState {
        let statement = try cachedStatement(
            sql: "SELECT \(SourceState.columns(of: "s")) FROM tributary_source s WHERE source = ?")
        return try Row.fetchOne(statement, arguments: [source]).map(SourceState.init) ?? SourceState(source: source)
    }

    /// Cuts due times and waits. A server may ask for a week at most; a time stored without its wait counts as a week.
    fileprivate func cutWaits(to now: Date, from former: Date? = nil) throws {
        let former = StoreDate.text(former ?? now)
        let now = StoreDate.text(now)
        try execute(
            sql: """
                WITH waits (source, wait) AS (
                    SELECT source,
                        coalesce(wait, max(0, (julianday(next_due) - julianday(last_run)) * 86400.0), 604800.0)
                    FROM tributary_source WHERE next_due > :now AND gone IS NULL)
                UPDATE tributary_source SET wait = waits.wait,
                    next_due = strftime(
                        '%Y-%m-%dT%H:%M:%fZ',
                        julianday(:now) + min(waits.wait / 86400.0, max(0, julianday(next_due) - julianday(:former))))
                FROM waits WHERE waits.source = tributary_source.source
                AND (julianday(next_due) - julianday(:now)) * 86400.0 > waits.wait + 1;
                """, arguments: ["now": now, "former": former])
        try execute(
            sql: """
                UPDATE tributary_source
                SET asked_until = strftime('%Y-%m-%dT%H:%M:%fZ', julianday(:now) + 7)
                WHERE julianday(asked_until) - julianday(:now) > 7;
                """, arguments: ["now": now])
        try execute(
            sql: """
                UPDATE tributary_host
                SET not_before = strftime('%Y-%m-%dT%H:%M:%fZ', julianday(:now) + coalesce(wait, 604800.0) / 86400.0)
                WHERE (julianday(not_before) - julianday(:now)) * 86400.0 > coalesce(wait, 604800.0) + 1;
                """, arguments: ["now": now])
    }

    /// Returns the states of all requests of all sources.
    func requestStates() throws -> [(source: String, state: RequestState)] {
        try Row.fetchCursor(
            self, sql: "SELECT source, \(RequestState.columns(of: "r")) FROM main.tributary_request r"
        ).reduce(into: []) { $0.append(($1[0], RequestState($1, from: 1))) }
    }
}
