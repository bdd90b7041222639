package import Foundation
import GRDB

/// What the store remembers of sources, requests and runs.
extension MainStore {
    /// The states of all sources that ever ran, by name.
    public func sourceStates() throws -> [String: SourceState] {
        let states = try pool.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM tributary_source").map(SourceState.init)
        }
        return Dictionary(uniqueKeysWithValues: states.map { ($0.source, $0) })
    }

    public func sourceState(_ source: String) throws -> SourceState { try pool.read { try $0.sourceState(source) } }

    /// The states of a source and of its requests, the latter by key.
    package func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        // Without a transaction, which would cost as much again: the source's lock keeps them from changing in between.
        try pool.unsafeRead { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(sql: "SELECT * FROM tributary_request WHERE source = ?"), arguments: [source])
            let requests = rows.map { (key: $0["key"] as String, state: RequestState($0)) }
            return (try db.sourceState(source), Dictionary(uniqueKeysWithValues: requests))
        }
    }

    /// Says that a source is being asked now: a process that starts while the run has no end yet does not ask at once again.
    package func noteAttempt(_ source: String, notBefore: Date) throws {
        try pool.write { db in
            try db.execute(
                cached: """
                    INSERT INTO tributary_source (source, next_due, failures) VALUES (:source, :due, 0)
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
        let statement = try cachedStatement(sql: "SELECT * FROM tributary_source WHERE source = ?")
        return try Row.fetchOne(statement, arguments: [source]).map(SourceState.init) ?? SourceState(source: source)
    }

    /// Executes a statement that each connection prepares once.
    func execute(cached sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// What other sources mirror, as far as their last commits tell: source and request.
    func mirrors(exceptOf source: String) throws -> [(source: String, state: RequestState)] {
        try Row.fetchAll(
            self, sql: "SELECT * FROM main.tributary_request WHERE source <> ? AND sync = 'mirror'", arguments: [source]
        ).map { ($0["source"], RequestState($0)) }
    }
}

extension SourceState {
    init(_ row: Row) {
        self.init(
            source: row["source"], outcome: (row["outcome"] as String?).flatMap(RunOutcome.init),
            lastRun: StoreDate.date(row["last_run"]), lastCommit: StoreDate.date(row["last_commit"]),
            nextDue: StoreDate.date(row["next_due"]), failures: row["failures"], error: row["error"],
            note: row["note"])
        gone = row["gone"]
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
    init(_ row: Row) {
        self.init(
            key: row["key"], validators: Validators(etag: row["etag"], lastModified: row["last_modified"]),
            fingerprint: row["fingerprint"], tables: JSONText.decode(row["tables"]) ?? [],
            sync: SyncMode(rawValue: row["sync"]) ?? .upsert, scope: JSONText.decode(row["scope"]) ?? [:])
        digest = row["digest"]
        movedTo = row["moved_to"]
        movedTimes = row["moved_times"]
    }

    func write(_ db: Database, source: String) throws {
        try db.execute(
            cached: "INSERT OR REPLACE INTO main.tributary_request VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                source, key, validators.etag, validators.lastModified, fingerprint,
                try JSONText.encode(tables.sorted()), sync.rawValue, try JSONText.encode(scope),
                digest, movedTo, movedTimes,
            ])
    }
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
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<Value: Decodable>(_ text: String) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
