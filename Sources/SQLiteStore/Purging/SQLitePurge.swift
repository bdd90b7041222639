import FeedModel
import FeedStaging
import FeedStores
import GRDB
import Ledger

/// The transaction that deletes what only one source has written.
struct SQLitePurge {
    let purge: Purge
    let db: Database
    let claims: CommitClaims
    /// The number of the run as which it is recorded.
    let recorded: RecordedRun

    /// Holds the keys of the journal: who has written the rows that they name.
    private static let written = "temp.tributary_written"

    /// A table with the rows of it that go.
    private struct Target {
        var info: TableInfo
        /// The key's columns; nil where rows are known by their place alone.
        var key: [String]?
        /// A temporary table of what tells these rows from others.
        var rows: String
        var report: PurgedTable

        func condition(_ alias: String) -> String {
            let locator = info.locator.map { "\(alias).\($0)" }.joined(separator: ", ")
            return "(\(locator)) IN (SELECT * FROM \(rows))"
        }
    }

    func run() throws -> PurgeReport {
        var report = PurgeReport(run: purge.commit.report)
        try readJournal()
        let infos = try tables().compactMap { try TableInfo(db, table: $0, schema: "main") }
            .filter { $0.kind == "table" && !$0.locator.isEmpty }
        let byName = Dictionary(infos.map { ($0.name, $0) }) { first, _ in first }
        let parents = byName.mapValues { info in
            Set(
                info.foreignKeys.compactMap { key in
                    byName.keys.first { $0.lowercased() == key.parent.lowercased() && $0 != info.name }
                })
        }
        let targets = try Purge.inOrder(Array(byName.keys), parents: parents).enumerated().compactMap { number, name in
            try byName[name].map { try target($0, number: number) }
        }
        for target in targets { try checkChildren(of: target, among: targets) }
        for target in targets {
            if target.report.deleted > 0 { try delete(target) }
            report.add(target.report)
        }
        for target in targets { try db.execute(sql: "DROP TABLE \(target.rows)") }
        try db.execute(sql: "DROP TABLE \(Self.written)")
        var commit = purge.commit
        commit.report = report.run
        try db.ledger.write(commit, run: recorded)
        for table in ["tributary_source", "tributary_acceptance"] {
            try db.execute(sql: "DELETE FROM main.\(table) WHERE source = ?", arguments: [purge.source])
        }
        return report
    }

    /// Notes of each row that the journal names whether the source has written it, and whether others have.
    private func readJournal() throws {
        try db.execute(
            sql: """
                CREATE TEMP TABLE tributary_written AS
                SELECT c."table" AS name, c.key AS key, max(r.source = :source) AS own, max(r.source <> :source) AS others
                FROM main.tributary_change c JOIN main.tributary_run r ON r.id = c.run
                WHERE c."table" IN (
                    SELECT DISTINCT o."table" FROM main.tributary_change o JOIN main.tributary_run r ON r.id = o.run
                    WHERE r.source = :source
                    UNION SELECT value FROM main.tributary_request q, json_each(q.tables) WHERE q.source = :source)
                GROUP BY c."table", c.key
                """, arguments: ["source": purge.source])
    }

    /// Returns the names of the tables that the source has written.
    private func tables() throws -> [String] {
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT name FROM \(Self.written) WHERE own
                UNION SELECT value FROM main.tributary_request q, json_each(q.tables) WHERE q.source = ?
                """, arguments: [purge.source])
        return names + purge.mirrored.map(\.table)
    }

    private func target(_ info: TableInfo, number: Int) throws -> Target {
        var target = Target(
            info: info, key: try journalledKey(of: info), rows: "temp.tributary_purged_\(number)",
            report: PurgedTable(name: info.name))
        let own = isWritten(info, target.key, "own")
        let others = isWritten(info, target.key, "others")
        var conditions = ["\(own) AND NOT \(others)"]
        var arguments = StatementArguments()
        for scope in purge.scopes(of: info.name) {
            let values = scope.sorted { $0.key < $1.key }
            conditions.append("NOT \(others)" + values.map { " AND m.\($0.key.sqlIdentifier) = ?" }.joined())
            arguments += StatementArguments(values.map(\.value))
        }
        let columns = info.locator.enumerated().map { "m.\($1) AS part\($0)" }.joined(separator: ", ")
        let table = "main.\(info.name.sqlIdentifier) m"
        try db.execute(
            sql: """
                CREATE TEMP TABLE tributary_purged_\(number) AS
                SELECT \(columns) FROM \(table) WHERE \(conditions.map { "(\($0))" }.joined(separator: " OR "))
                """, arguments: arguments)
        target.report.deleted = try count(target.rows)
        let rest = "\(table) WHERE NOT \(target.condition("m"))"
        target.report.shared = try count("\(rest) AND \(own) AND \(others)")
        target.report.unknown = try count("\(rest) AND NOT \(isWritten(info, target.key, "1"))")
        target.report.lacksKey = target.key == nil
        return target
    }

    /// Returns a condition that the journal names a row `m` of a table, with this of those who have written it.
    private func isWritten(_ info: TableInfo, _ key: [String]?, _ condition: String) -> String {
        guard let key else { return "0" }
        return """
            coalesce(\(changelogKeySQL(key, "m")) IN (
                SELECT key FROM \(Self.written) WHERE name = \(info.name.sqlLiteral) AND \(condition)), 0)
            """
    }

    private func journalledKey(of info: TableInfo) throws -> [String]? {
        try purge.key(
            of: info.name, candidates: info.candidateKeys, hasColumn: { info.column($0) != nil },
            isJournalled: {
                try count("main.\(info.name.sqlIdentifier) m WHERE \(isWritten(info, $0, "own"))") > 0
            })
    }

    private func count(_ rows: String) throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM \(rows)") ?? 0 }

    /// Checks that no row stays that refers to one which goes.
    private func checkChildren(of target: Target, among targets: [Target]) throws {
        guard target.report.deleted > 0 else { return }
        let keys = try Row.fetchAll(
            db,
            sql: """
                SELECT t.name AS child, f.id AS id, f."from" AS "from", f."to" AS "to"
                FROM pragma_table_list t CROSS JOIN pragma_foreign_key_list(t.name, 'main') f
                WHERE t.schema = 'main' AND t.type = 'table' AND lower(f."table") = lower(?)
                ORDER BY t.name, f.id, f.seq
                """, arguments: [target.info.name])
        let byKey = Dictionary(grouping: keys) { "\($0["id"] as Int) \($0["child"] as String)" }
        for (_, parts) in byKey.sorted(by: { $0.key < $1.key }) {
            let child: String = parts[0]["child"]
            let columns = parts.map { $0["from"] as String }
            let named = parts.compactMap { $0["to"] as String? }
            let joined = zip(named.isEmpty ? target.info.primaryKey : named, columns).map {
                "p.\($0.sqlIdentifier) = c.\($1.sqlIdentifier)"
            }
            let staying = targets.first { $0.info.name == child }.map { " AND NOT \($0.condition("c"))" } ?? ""
            let rows = try count(
                """
                main.\(child.sqlIdentifier) c WHERE EXISTS (
                    SELECT 1 FROM main.\(target.info.name.sqlIdentifier) p
                    WHERE \(joined.joined(separator: " AND ")) AND \(target.condition("p")))\(staying)
                """)
            guard rows == 0 else {
                throw PurgeObstacle(child: child, columns: columns, parent: target.info.name, rows: rows)
                    .error(source: purge.source)
            }
        }
    }

    /// Deletes the rows, journals them, and lets others who may have written them send them again.
    private func delete(_ target: Target) throws {
        let key = target.key.map { changelogKeySQL($0, "m") } ?? "m.\(target.info.rowID ?? "rowid")"
        let rows = "main.\(target.info.name.sqlIdentifier) AS m WHERE \(target.condition("m"))"
        try db.execute(
            sql: """
                INSERT INTO main.tributary_change (run, "table", key, operation)
                SELECT \(recorded.id), \(target.info.name.sqlLiteral), \(key), 'delete' FROM \(rows)
                """)
        try db.execute(sql: "DELETE FROM \(rows)")
        try db.ledger.requests.forgetValidators(of: Set(claims.requests(of: target.info.name, within: [:])))
    }
}

extension TableInfo {
    /// The keys by which the journal may know the table's rows: what makes a row the only one, but for numbers that the
    /// store has made where there is another.
    fileprivate var candidateKeys: [[String]] {
        let indexes = uniqueIndexes.map { $0.map(\.name) }
        guard !primaryKey.isEmpty else { return indexes }
        return [primaryKey] + indexes.filter { Set($0) != Set(primaryKey) }
    }
}
