package import FeedModel
package import Foundation
import FeedStaging
import FeedStores
import PostgresClient

/// The stored states of sources, requests and runs.
extension PostgresStore {
    /// Returns the states of all sources that ever ran, by name.
    package func sourceStates() throws -> [String: SourceState] {
        try ask { connection in
            try connection.execute(
                "SELECT \(SourceState.postgresColumns(of: "s")) FROM tributary_source s WHERE failures IS NOT NULL"
            ).map(SourceState.init).reduce(into: [:]) { $0[$1.source] = $1 }
        }
    }

    package func sourceState(_ source: String) throws -> SourceState {
        try ask { connection in
            try connection.execute(
                """
                SELECT \(SourceState.postgresColumns(of: "s")) FROM tributary_source s
                WHERE source = $1 AND failures IS NOT NULL
                """, [.text(source)]
            ).first.map(SourceState.init) ?? SourceState(source: source)
        }
    }

    /// Returns the states of a source and of its requests, the latter by key.
    package func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        try ask { connection in
            var state = SourceState(source: source)
            var requests: [String: RequestState] = [:]
            for row in try connection.execute(Self.statesSQL, [.text(source)]) {
                if !row.isNull(0) { state = try SourceState(row) }
                guard !row.isNull(SourceState.postgresColumnCount) else { continue }
                let request = try RequestState(row, from: SourceState.postgresColumnCount)
                requests[request.key] = request
            }
            for (key, request) in requests where !request.validators.isEmpty || request.digest != nil {
                guard try !tableDetails.stands(request.schema, of: request.tables, in: connection) else { continue }
                // Its rows were lost with a table or a column that somebody has dropped.
                requests[key]?.validators = Validators()
                requests[key]?.digest = nil
            }
            return (state, requests)
        }
    }

    private static let statesSQL = """
        SELECT \(SourceState.postgresColumns(of: "s")), \(RequestState.postgresColumns(of: "r"))
        FROM (SELECT $1::text AS source) asked
        LEFT JOIN tributary_source s ON s.source = asked.source AND s.failures IS NOT NULL
        LEFT JOIN tributary_request r ON r.source = asked.source
        """

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
        let due = wait.map { PostgresDate.value(now + $0) }
        let lease = leases.lease(of: source)
        try await writeInGroup { connection in
            let noted = try connection.execute(
                """
                INSERT INTO tributary_source AS s (source, next_due, wait, declared, attempts, failures)
                VALUES ($1, $2, $3, $4, $5, 0)
                ON CONFLICT (source) DO UPDATE SET next_due = coalesce(EXCLUDED.next_due, s.next_due),
                wait = CASE WHEN EXCLUDED.next_due IS NULL THEN s.wait ELSE EXCLUDED.wait END,
                declared = EXCLUDED.declared, attempts = EXCLUDED.attempts, failures = coalesce(s.failures, 0)
                WHERE $6::text IS NULL OR s.holder = $6::text AND s.lease = $7::bigint
                RETURNING source
                """,
                [
                    .text(source), due, wait.map { .double($0) }, .text(declared), .integer(Int64(number)),
                    lease.map { .text($0.holder) }, lease.map { .integer($0.number) },
                ])
            if noted.isEmpty { throw StoreError.leaseLost(source) }
            return nil
        }
    }

    /// Notes the reason for which a source is not run any more.
    package func noteHold(_ source: String, error: String, note: String) async throws {
        try await writeInGroup { [leases] connection in
            try Ledger(connection: connection, leases: leases).checkLease(of: source)
            try connection.execute(
                """
                UPDATE tributary_source SET outcome = $1, error = $2, note = $3,
                    failing_since = coalesce(failing_since, date_trunc('milliseconds', clock_timestamp()))
                WHERE source = $4
                """,
                [.text(RunOutcome.discarded.rawValue), .text(error.storable), .text(note.storable), .text(source)])
            return nil
        }
    }

    /// Allows sources to run again that are held because processes died during their runs.
    ///
    /// - Returns: the sources that were held.
    package func release(_ sources: [String]) throws -> [String] {
        let released = try write { connection in
            try connection.execute(
                """
                UPDATE tributary_source
                SET attempts = 0, next_due = NULL, error = NULL, note = NULL, undone = NULL
                WHERE source = ANY ($1) AND (attempts >= $2 OR undone IS NOT NULL) RETURNING source
                """, [.textArray(try PostgresTextArray(sources)), .integer(Int64(SourceState.deathsUntilHeld))]
            ).reduce(into: Set<String>()) { $0.insert($1.string(0) ?? "") }
        }
        return sources.filter(released.contains)
    }

    /// Makes sources that are switched off due when they are switched on again, even if they were gone.
    package func forgetGone(_ sources: [String]) throws {
        guard !sources.isEmpty else { return }
        try write { connection in
            _ = try connection.execute(
                "UPDATE tributary_source SET gone = NULL, next_due = NULL WHERE source = ANY ($1) AND gone IS NOT NULL",
                [.textArray(try PostgresTextArray(sources))])
        }
    }

    /// Returns the origins that asked for a pause, with the end of each pause.
    package func busyHosts() throws -> [String: Date] {
        try ask { connection in
            try connection.execute("SELECT origin, \(PostgresDate.sql("not_before")) FROM tributary_host")
                .reduce(into: [:]) { hosts, row in
                    if let origin = row.string(0) { hosts[origin] = try row.date(1) }
                }
        }
    }

    /// Returns the last runs of one source or of all, the latest first.
    package func runs(of source: String? = nil, failed: Bool = false, limit: Int) throws -> [RunReport] {
        var conditions: [String] = []
        if source != nil { conditions.append("source = $2") }
        if failed { conditions.append("outcome = 'discarded'") }
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        return try ask { connection in
            try connection.execute(
                "SELECT \(RunReport.postgresColumns) FROM tributary_run \(filter) ORDER BY id DESC LIMIT $1",
                [.integer(Int64(limit))] + (source.map { [.text($0)] } ?? [])
            ).map { try RunReport($0) }
        }
    }

    package func recordedRun(_ number: Int64) throws -> RunReport? {
        try ask { connection in
            try connection.execute(
                "SELECT \(RunReport.postgresColumns) FROM tributary_run WHERE id = $1", [.integer(number)]
            ).first.map { try RunReport($0) }
        }
    }

    package func figures(of source: String, from start: Date, spansOf seconds: Double) throws -> [RunFigures] {
        try ask { connection in
            try connection.execute(
                """
                SELECT floor((extract(epoch FROM started_at)::float8 - $2::float8) / $3::float8)::bigint, \(RunFigures.columns)
                FROM tributary_run WHERE source = $1 AND started_at >= to_timestamp($2::float8)
                -- Runs come in the order of their beginnings: those before the first one are not looked at.
                AND id > coalesce((
                    SELECT id FROM tributary_run WHERE source = $1 AND started_at < to_timestamp($2::float8)
                    ORDER BY id DESC LIMIT 1), 0)
                GROUP BY 1 ORDER BY 1
                """,
                [.text(source), .double(start.timeIntervalSince1970), .double(seconds)]
            ).map { row in
                var figures = RunFigures(span: max(try row.int(0) ?? 0, 0))
                figures.committed = try row.int(1) ?? 0
                figures.unchanged = try row.int(2) ?? 0
                figures.discarded = try row.int(3) ?? 0
                figures.cancelled = try row.int(4) ?? 0
                figures.inserted = try row.int(5) ?? 0
                figures.updated = try row.int(6) ?? 0
                figures.deleted = try row.int(7) ?? 0
                figures.bytes = try row.int(8) ?? 0
                figures.seconds = try row.double(9) ?? 0
                return figures
            }
        }
    }

    package func firstRun(of source: String) throws -> Date? {
        try ask { connection in
            try connection.execute(
                "SELECT \(PostgresDate.sql("started_at")) FROM tributary_run WHERE source = $1 ORDER BY id LIMIT 1",
                [.text(source)]
            ).first?.date(0)
        }
    }

    /// Returns the value of an SQL expression over the rows of a table, within a scope; nil for NULL.
    package func value(of expression: String, in table: String, scope: [String: String]) throws -> String? {
        let stored = try ask { try details(of: table, $0) }
        let info = stored.info
        let conditions = scope.sorted { $0.key < $1.key }.map { entry in
            "\((info.column(entry.key)?.name ?? entry.key).postgresIdentifier) = \(entry.value.postgresLiteral)"
        }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        do {
            func value(_ connection: PostgresConnection, of details: TableDetails) throws -> String? {
                let row = try connection.execute("SELECT \(expression) FROM \(details.sql)\(filter)").first
                return try row?.storedText(0, type: row?.columnTypes[0] ?? 0)
            }
            if let planning {
                return try planning.inTransaction(of: self, fills: true) {
                    try value($0, of: details(of: table, $0))
                }
            }
            return try connections.withConnection(attempts: 2) { connection in
                try connection.inTransaction(isReadOnly: true) { try value(connection, of: stored) }
            }
        } catch let error as PostgresError {
            throw StoreError(.schema, "${last:\(expression)} of table '\(table)': \(error.text)")
        }
    }
}

extension String {
    /// The text without U+0000, which no text of PostgreSQL's can hold: for messages about what others sent.
    var storable: String { utf8.contains(0) ? replacing("\0", with: "\u{FFFD}") : self }
}
