package import Foundation
import GRDB

/// What the store remembers of sources, requests and runs.
extension MainStore {
    /// The states of all sources that ever ran, by name.
    public func sourceStates() throws -> [String: SourceState] {
        try pool.read { db in
            try Row.fetchCursor(db, sql: "SELECT \(SourceState.columns(of: "s")) FROM tributary_source s").map(
                SourceState.init
            )
            .reduce(into: [:]) { $0[$1.source] = $1 }
        }
    }

    public func sourceState(_ source: String) throws -> SourceState { try pool.read { try $0.sourceState(source) } }

    /// The states of a source and of its requests, the latter by key.
    package func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        // One statement on a connection of its own: a transaction and a place in the pool would each cost as much again.
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
                // Its rows have gone with a table or a column that somebody has dropped.
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

    /// How a table compares the columns of a scope.
    package func comparison(of table: String, columns: Set<String>) throws -> TableComparison {
        try states.unsafeRead { try tableInfos.comparison(of: table, columns: columns, in: $0) }
    }

    /// Says that a source is being asked now: a process that starts while the run has no end yet does not ask at once again.
    package func noteAttempt(_ source: String, notBefore: Date) async throws {
        try await writeInGroup { db in
            try db.execute(
                cached: """
                    INSERT INTO main.tributary_source (source, next_due, failures) VALUES (:source, :due, 0)
                    ON CONFLICT (source) DO UPDATE SET next_due = :due
                    """, ["source": source, "due": StoreDate.text(notBefore)])
        }
    }

    /// Sources that are switched off are asked again when they are switched on, gone or not.
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

    /// What an SQL expression gives over the rows of a table, within a scope; nil for NULL.
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

    /// Origins that asked to be left alone, and until when.
    package func busyHosts() throws -> [String: Date] {
        let rows = try pool.read { try Row.fetchAll($0, sql: "SELECT origin, not_before FROM tributary_host") }
        return Dictionary(rows.compactMap { row in StoreDate.date(row["not_before"]).map { (row["origin"], $0) } }) {
            $1
        }
    }

    /// The last runs, the latest first; of one source or of all.
    public func runs(of source: String? = nil, limit: Int) throws -> [RunReport] {
        try pool.read { db in
            try Row.fetchAll(
                db,
                sql:
                    "SELECT * FROM tributary_run WHERE source = coalesce(:source, source) ORDER BY id DESC LIMIT :limit",
                arguments: ["source": source, "limit": limit]
            ).map(RunReport.init)
        }
    }
}

extension Database {
    fileprivate func sourceState(_ source: String) throws -> SourceState {
        let statement = try cachedStatement(
            sql: "SELECT \(SourceState.columns(of: "s")) FROM tributary_source s WHERE source = ?")
        return try Row.fetchOne(statement, arguments: [source]).map(SourceState.init) ?? SourceState(source: source)
    }

    /// Executes a statement that each connection prepares once.
    func execute(cached sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The states of every request of every source.
    func requestStates() throws -> [(source: String, state: RequestState)] {
        try Row.fetchCursor(
            self, sql: "SELECT source, \(RequestState.columns(of: "r")) FROM main.tributary_request r"
        ).reduce(into: []) { $0.append(($1[0], RequestState($1, from: 1))) }
    }
}

extension SourceState {
    /// In the order in which they are read, by position: by name takes longer than the query.
    fileprivate static func columns(of alias: String) -> String {
        names.map { "\(alias).\($0)" }.joined(separator: ", ")
    }

    private static let names = [
        "source", "outcome", "last_run", "last_commit", "next_due", "failures", "error", "note", "gone",
    ]
    fileprivate static var columnCount: Int { names.count }

    fileprivate init(_ row: Row) {
        self.init(
            source: row[0], outcome: (row[1] as String?).flatMap(RunOutcome.init), lastRun: StoreDate.date(row[2]),
            lastCommit: StoreDate.date(row[3]), nextDue: StoreDate.date(row[4]), failures: row[5], error: row[6],
            note: row[7])
        gone = row[8]
    }

    func write(_ db: Database) throws {
        try db.execute(
            cached: "INSERT OR REPLACE INTO main.tributary_source VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                source, outcome?.rawValue, lastRun.map(StoreDate.text), lastCommit.map(StoreDate.text),
                nextDue.map(StoreDate.text), failures, error, note, gone,
            ])
    }
}

extension RequestState {
    /// In the order in which they are read, by position.
    fileprivate static func columns(of alias: String) -> String {
        [
            "key", "etag", "last_modified", "fingerprint", "tables", "sync", "scope", "digest", "moved_to",
            "moved_times", "schema",
        ].map { "\(alias).\($0)" }.joined(separator: ", ")
    }

    fileprivate init(_ row: Row, from first: Int) {
        self.init(
            key: row[first], validators: Validators(etag: row[first + 1], lastModified: row[first + 2]),
            fingerprint: row[first + 3], tables: JSONText.names(row[first + 4]),
            sync: SyncMode(rawValue: row[first + 5]) ?? .upsert, scope: JSONText.texts(row[first + 6]))
        digest = row[first + 7]
        movedTo = row[first + 8]
        movedTimes = row[first + 9]
        schema = row[first + 10]
    }

    func write(_ db: Database, source: String) throws {
        try db.execute(
            cached: """
                INSERT OR REPLACE INTO main.tributary_request
                (source, key, etag, last_modified, fingerprint, tables, sync, scope, digest, moved_to, moved_times, schema)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            [
                source, key, validators.etag, validators.lastModified, fingerprint,
                try JSONText.encode(tables.sorted()), sync.rawValue, try scopeText(),
                digest, movedTo, movedTimes, schema,
            ])
    }

    func scopeText() throws -> String { try JSONText.encode(scope) }
}

extension RunReport {
    init(_ row: Row) {
        var counts = MergeCounts()
        counts.inserted = row["inserted"]
        counts.updated = row["updated"]
        counts.deleted = row["deleted"]
        counts.unchanged = row["unchanged"]
        counts.replaced = row["replaced"]
        self.init(
            source: row["source"], outcome: RunOutcome(rawValue: row["outcome"]) ?? .discarded,
            startedAt: StoreDate.date(row["started_at"]) ?? .distantPast, seconds: row["seconds"], counts: counts,
            skipped: row["skipped"], bytes: row["bytes"], error: row["error"],
            requests: JSONText.decode(row["requests"]) ?? [])
    }

    func write(_ db: Database) throws {
        try db.execute(
            cached: """
                INSERT INTO main.tributary_run
                (source, started_at, finished_at, outcome, inserted, updated, deleted, unchanged, replaced, skipped, bytes,
                 seconds, error, requests)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            [
                source, StoreDate.text(startedAt), StoreDate.text(startedAt + seconds), outcome.rawValue,
                counts.inserted, counts.updated, counts.deleted, counts.unchanged, counts.replaced, skipped, bytes,
                seconds, error, try JSONText.encode(requests),
            ])
    }
}

/// Lists and dictionaries in the own tables' text columns.
private enum JSONText {
    static func encode(_ value: some Encodable & Collection) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    /// A list of tables, most of which have names without escapes.
    static func names(_ text: String) -> Set<String> {
        guard !text.utf8.contains(UInt8(ascii: "\\")) else { return decode(text) ?? [] }
        // Every other piece is what stands between two quotes.
        let pieces = text.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        return Set(stride(from: 1, to: pieces.count, by: 2).map { String(Substring(pieces[$0])) })
    }

    /// A scope, of which most are empty.
    static func texts(_ text: String) -> [String: String] { text == "{}" ? [:] : decode(text) ?? [:] }

    static func decode<Value: Decodable>(_ text: String) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
