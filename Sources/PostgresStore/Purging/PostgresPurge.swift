import FeedModel
import FeedStores
import Ledger
import PostgresClient

/// The transaction that deletes what only one source has written.
struct PostgresPurge {
    let purge: Purge
    let store: PostgresStore
    let connection: PostgresConnection

    /// Holds the keys of the journal: who has written the rows that they name.
    private static let written = "pg_temp.tributary_written"

    /// A table with the rows of it that go.
    private struct Target {
        var details: TableDetails
        /// The key's columns; nil where rows are known by their place alone.
        var key: [String]?
        /// A temporary table of the places of these rows.
        var rows: String
        var report: PurgedTable

        func condition(_ alias: String) -> String {
            "EXISTS (SELECT 1 FROM \(rows) d WHERE d.place = \(alias).ctid AND d.part = \(alias).tableoid)"
        }
    }

    func run() throws -> (RecordedRun, PurgeReport) {
        var report = PurgeReport(run: purge.commit.report)
        let ledger = connection.ledger(store.leases)
        let run = try ledger.runs.draw(purge.commit.report)
        let details = try Catalog(connection).tables(named: tables())
        let byName = Dictionary(details.values.filter(\.kind.isTable).map { ($0.name, $0) }) { first, _ in first }
        // In the order in which commits lock them.
        for name in byName.keys.sorted() {
            try connection.execute("LOCK TABLE \(byName[name]?.sql ?? "") IN SHARE ROW EXCLUSIVE MODE")
        }
        // Only now nobody else can write these tables, and journal it.
        try readJournal(of: Array(byName.keys))
        try store.requestIndex.renew(ledger)
        let parents = byName.mapValues { table in Set(table.foreignKeys.map(\.parentName)).subtracting([table.name]) }
        let targets = try Purge.inOrder(Array(byName.keys), parents: parents).enumerated().compactMap { number, name in
            try byName[name].map { try target($0, number: number) }
        }
        for target in targets { try checkChildren(of: target, among: targets) }
        let claims = store.claims(connection)
        for target in targets {
            if target.report.deleted > 0 {
                try delete(target, run.id)
                try ledger.requests.forgetValidators(of: Set(claims.requests(of: target.details.name, within: [:])))
            }
            report.add(target.report)
        }
        var commit = purge.commit
        commit.report = report.run
        try ledger.write(commit, run: run)
        for table in ["tributary_source", "tributary_acceptance"] {
            try connection.execute("DELETE FROM \(table) WHERE source = $1", [.text(purge.source)])
        }
        return (run, report)
    }

    /// Returns the names of the tables that the source has written.
    private func tables() throws -> [String] {
        let names = try connection.execute(
            """
            SELECT DISTINCT c."table" FROM tributary_change c JOIN tributary_run r ON r.id = c.run WHERE r.source = $1
            UNION SELECT unnest(tables) FROM tributary_request WHERE source = $1
            """, [.text(purge.source)]
        ).compactMap { $0.string(0) }
        return Array(Set(names + purge.mirrored.map(\.table)))
    }

    /// Notes of each row of tables that the journal names whether the source has written it, and whether others have.
    private func readJournal(of tables: [String]) throws {
        try connection.execute(
            """
            CREATE TEMP TABLE tributary_written ON COMMIT DROP AS
            SELECT c."table" AS name, c.key, bool_or(r.source = $1) AS own, bool_or(r.source <> $1) AS others
            FROM tributary_change c JOIN tributary_run r ON r.id = c.run
            WHERE c."table" = ANY ($2)
            GROUP BY c."table", c.key
            """, [.text(purge.source), .textArray(try PostgresTextArray(tables.sorted()))])
        try connection.executeScript("ANALYZE \(Self.written)")
    }

    private func target(_ details: TableDetails, number: Int) throws -> Target {
        var target = Target(
            details: details, key: try journalledKey(of: details), rows: "pg_temp.tributary_purged_\(number)",
            report: PurgedTable(name: details.name))
        let own = isWritten(details, target.key, "own")
        let others = isWritten(details, target.key, "others")
        var conditions = ["\(own) AND NOT \(others)"]
        for scope in purge.scopes(of: details.name) {
            let values = scope.sorted { $0.key < $1.key }.compactMap { name, value in
                details.column(name).map { " AND m.\($0.sql) = \(value.postgresLiteral)" }
            }
            guard values.count == scope.count else { continue }
            conditions.append("NOT \(others)" + values.joined())
        }
        try connection.executeScript(
            """
            CREATE TEMP TABLE tributary_purged_\(number) ON COMMIT DROP AS
            SELECT m.ctid AS place, m.tableoid AS part FROM \(details.sql) m
            WHERE \(conditions.map { "(\($0))" }.joined(separator: " OR "));
            ANALYZE \(target.rows)
            """)
        target.report.deleted = try count(target.rows)
        let rest = "\(details.sql) m WHERE NOT \(target.condition("m"))"
        target.report.shared = try count("\(rest) AND \(own) AND \(others)")
        target.report.unknown = try count("\(rest) AND NOT \(isWritten(details, target.key, "true"))")
        target.report.lacksKey = target.key == nil
        return target
    }

    /// Returns a condition that the journal names a row `m` of a table, with this of those who have written it.
    private func isWritten(_ details: TableDetails, _ key: [String]?, _ condition: String) -> String {
        guard let key else { return "false" }
        return """
            EXISTS (SELECT 1 FROM \(Self.written) w
            WHERE w.name = \(details.name.postgresLiteral) AND w.key = \(details.changelogKey(key, "m")) AND \(condition))
            """
    }

    private func journalledKey(of details: TableDetails) throws -> [String]? {
        try purge.key(
            of: details.name, candidates: details.uniquenesses.filter(\.isPlain).map(\.columns),
            hasColumn: { details.column($0) != nil },
            isJournalled: { try count("\(details.sql) m WHERE \(isWritten(details, $0, "own"))") > 0 })
    }

    private func count(_ rows: String) throws -> Int {
        try connection.execute("SELECT count(*) FROM \(rows)")[0].int(0) ?? 0
    }

    /// Checks that no row stays that refers to one which goes.
    private func checkChildren(of target: Target, among targets: [Target]) throws {
        guard target.report.deleted > 0 else { return }
        let children = try Catalog(connection).tables(target.details.referringKeys.map(\.child))
        for key in target.details.referringKeys {
            guard let child = children.first(where: { $0.oid == key.child }) else { continue }
            let joined = zip(key.targets, key.columns).map {
                "p.\($0.postgresIdentifier) = c.\($1.postgresIdentifier)"
            }
            let staying = targets.first { $0.details.oid == child.oid }.map { " AND NOT \($0.condition("c"))" } ?? ""
            let rows = try count(
                """
                \(child.sql) c WHERE EXISTS (
                    SELECT 1 FROM \(target.details.sql) p
                    WHERE \(joined.joined(separator: " AND ")) AND \(target.condition("p")))\(staying)
                """)
            guard rows == 0 else {
                throw PurgeObstacle(child: child.name, columns: key.columns, parent: target.details.name, rows: rows)
                    .error(source: purge.source)
            }
        }
    }

    /// Deletes the rows, and journals them.
    private func delete(_ target: Target, _ run: Int64) throws {
        let key = target.details.changelogKey(target.key ?? [], "m")
        try connection.execute(
            """
            WITH deleted AS (
                DELETE FROM \(target.details.sql) m USING \(target.rows) d
                WHERE m.ctid = d.place AND m.tableoid = d.part RETURNING \(key) AS key
            )
            INSERT INTO tributary_change (run, "table", key, operation)
            SELECT \(run), \(target.details.name.postgresLiteral), key, 'delete' FROM deleted
            """)
    }
}
