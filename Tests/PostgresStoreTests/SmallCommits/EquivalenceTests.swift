import FeedModel
import Foundation
@testable import PostgresStore
import PostgresServer
import TestSupport
import Testing

@testable import FeedStaging
@testable import FeedStores

/// Random stacks, committed to one database as small ones and to another by the general way. Both must end alike: rows,
/// changelog, runs, requests, sources.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct EquivalenceTests {
    private static let schema = """
        CREATE TABLE item (
            feed text, id integer, n bigint, price numeric(8,2), name varchar(6), flag boolean, at timestamptz, raw bytea,
            size double precision, info jsonb, PRIMARY KEY (feed, id));
        CREATE TABLE tag (label text PRIMARY KEY, hits integer DEFAULT 7, source text, day date);
        CREATE TABLE shop (number serial PRIMARY KEY, code text COLLATE "C" NOT NULL UNIQUE, title text);
        CREATE TABLE sale (
            id uuid PRIMARY KEY, shop text REFERENCES shop (code), area char(3), amount real, UNIQUE (id, area));
        """

    /// One request's rows, as a function of the seed.
    private struct Plan {
        var table: String
        var rule: MergeRule
        var rows: [[(String, String?)]]
        var tables: Set<String> { [table] }
    }

    @Test(arguments: 0..<4) func bothWaysEndAlike(_ lane: UInt64) async throws {
        try await SmallCommitFixture.with(Self.schema) { (small) async throws in
            try await SmallCommitFixture.with(Self.schema) { (general) async throws in
                var random = SplitMix64(seed: 0x5EED + lane)
                let observers = (try small.database.connect(), try general.database.connect())
                var smallCommits = 0
                for round in 0..<50 {
                    let source = "s\(Int.random(in: 0..<3, using: &random))"
                    let plans = Self.plans(of: source, &random)
                    let stack = try small.stack(plans.map { plan in (plan.rule, { try Self.stage(plan, $0) }) })
                    let commit = Self.commit(of: source, plans, etag: "\(round)")
                    var isSmall = true
                    let own = message {
                        do { try small.merge(stack, commit, .small) } catch is SmallCommitFixture.NotSmall {
                            isSmall = false
                            try small.merge(stack, commit, .general)
                        }
                    }
                    let other = message { try general.merge(stack, commit, .general) }
                    #expect(own == other, "round \(round) of \(lane)")
                    if isSmall { smallCommits += 1 }
                    let (left, right) = (try Self.contents(observers.0), try Self.contents(observers.1))
                    guard left == right else {
                        Issue.record(
                            "round \(round) of \(lane), \(plans):\n\(left.difference(from: right).map { "\($0)" }.joined(separator: "\n"))"
                        )
                        return
                    }
                }
                // Not all fall back.
                #expect(smallCommits > 8, "\(smallCommits)")
            }
        }
    }

    // MARK: - Stacks

    private static func plans(of source: String, _ random: inout SplitMix64) -> [Plan] {
        var plans = [item(source, &random)]
        if random.oneIn(3) { plans.append(tag(source, &random)) }
        if random.oneIn(3) { plans += sales(&random) }
        if random.oneIn(4) { plans.removeFirst() }
        return plans.isEmpty ? [item(source, &random)] : plans
    }

    private static func item(_ source: String, _ random: inout SplitMix64) -> Plan {
        let sync = [SyncMode.mirror, .mirror, .upsert, .insert][Int.random(in: 0..<4, using: &random)]
        var rows: [[(String, String?)]] = []
        for _ in 0..<Int.random(in: 0..<12, using: &random) {
            var row: [(String, String?)] = [("feed", source), ("id", "\(Int.random(in: 0..<9, using: &random))")]
            row.append(("n", random.oneIn(4) ? nil : "\(Int64.random(in: -3...3, using: &random))"))
            row.append(("price", ["1", "1.005", "-0.00", "1e2", nil][Int.random(in: 0..<5, using: &random)]))
            row.append(("name", ["", "a\"\\{},", "äöüß€😀", "NULL", nil][Int.random(in: 0..<5, using: &random)]))
            row.append(("flag", ["true", "0", nil][Int.random(in: 0..<3, using: &random)]))
            row.append(
                ("at", ["2026-01-01T00:00:00Z", "2026-01-01 01:00+01", nil][Int.random(in: 0..<3, using: &random)]))
            row.append(("size", ["0.1", "1e300", "-Infinity", nil][Int.random(in: 0..<4, using: &random)]))
            row.append(("info", [#"{"b": 1, "a": 2}"#, #"{"a":2,"b":1}"#, nil][Int.random(in: 0..<3, using: &random)]))
            rows.append(row)
        }
        return Plan(table: "item", rule: MergeRule(sync: sync, scope: ["feed": source]), rows: rows)
    }

    private static func tag(_ source: String, _ random: inout SplitMix64) -> Plan {
        let rows = (0..<Int.random(in: 1..<6, using: &random)).map { _ in
            [
                ("label", "t\(Int.random(in: 0..<6, using: &random))"), ("source", random.oneIn(2) ? source : "any"),
                ("day", random.oneIn(2) ? "2026-02-03" : nil),
            ] as [(String, String?)]
        }
        return Plan(
            table: "tag", rule: MergeRule(sync: random.oneIn(3) ? .append : .upsert, keys: ["tag": ["label"]]),
            rows: rows)
    }

    /// Shops and what refers to them; now and then to one that does not exist.
    private static func sales(_ random: inout SplitMix64) -> [Plan] {
        let shops = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
            [("code", "c\(Int.random(in: 0..<4, using: &random))"), ("title", random.oneIn(2) ? "x" : "y")]
                as [(String, String?)]
        }
        let sales = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
            let id = "00000000-0000-0000-0000-00000000000\(Int.random(in: 0..<6, using: &random))"
            return [
                ("id", id), ("shop", random.oneIn(3) ? nil : "c\(Int.random(in: 0..<4, using: &random))"),
                ("amount", "\(Double.random(in: 0...2, using: &random))"),
            ] as [(String, String?)]
        }
        // Children are staged before their parents.
        return [
            Plan(table: "sale", rule: MergeRule(keys: ["sale": ["id"]]), rows: sales),
            Plan(table: "shop", rule: MergeRule(keys: ["shop": ["code"]]), rows: shops),
        ]
    }

    private static func stage(_ plan: Plan, _ context: WorkerContext) throws {
        guard let first = plan.rows.first else { return }
        let writer = try context.writer(for: RowShape(table: plan.table, columns: first.map(\.0)), rule: plan.rule)
        for row in plan.rows {
            writer.beginRow()
            for (_, value) in row {
                if var value {
                    value.withUTF8 { writer.append(text: UnsafeRawBufferPointer($0)) }
                } else {
                    writer.appendNull()
                }
            }
            try writer.endRow()
        }
    }

    private static func commit(of source: String, _ plans: [Plan], etag: String) -> Commit {
        let requests = plans.map { plan in
            var state = request(plan.table, etag: etag, tables: plan.tables, scope: plan.rule.scope)
            state.sync = plan.rule.sync
            return state
        }
        let mirrors = plans.filter { $0.rule.sync == .mirror }.map {
            MirroredRows(table: $0.table, scope: $0.rule.scope)
        }
        return .of(source, requests, outcome: .committed, mirrors: mirrors)
    }

    // MARK: - What is compared

    /// Everything but numbers that are drawn also for what is rolled back.
    private static func contents(_ connection: PostgresConnection) throws -> [String] {
        let runs = """
            SELECT rank() OVER (ORDER BY id), source, started_at, finished_at, outcome, inserted, updated, deleted, unchanged,
                replaced, skipped, bytes, seconds, error, requests, kind, failing_since, history, restored,
                first_change <= (SELECT min(id) FROM tributary_change c WHERE c.run = r.id),
                last_change >= (SELECT max(id) FROM tributary_change c WHERE c.run = r.id)
            FROM tributary_run r ORDER BY 1
            """
        // Deletions come in the order in which they are found.
        let changes = """
            SELECT r, step, "table", CASE WHEN operation <> 'delete' THEN place END, key, operation FROM (
                SELECT *, row_number() OVER (PARTITION BY r ORDER BY id) AS place,
                    count(*) FILTER (WHERE starts) OVER (PARTITION BY r ORDER BY id) AS step FROM (
                    SELECT *, (lag("table" || operation) OVER (PARTITION BY r ORDER BY id)) IS DISTINCT FROM "table" || operation
                        AS starts FROM (
                        SELECT *, dense_rank() OVER (ORDER BY run) AS r FROM tributary_change) a) b) c
            ORDER BY r, step, 4, key
            """
        var all: [String] = []
        for sql in [
            "SELECT * FROM item ORDER BY 1, 2", "SELECT * FROM tag ORDER BY 1",
            "SELECT code, title FROM shop ORDER BY 1", "SELECT * FROM sale ORDER BY 1",
            "SELECT * FROM tributary_request ORDER BY source, key",
            "SELECT * FROM tributary_claim ORDER BY source, key, 3",
            "SELECT source, outcome, last_run, last_commit, next_due, failures, error FROM tributary_source ORDER BY source",
            runs, changes,
        ] {
            all += try connection.execute(sql).map { row in
                (0..<row.columnCount).map { row.string($0) ?? "NULL" }.joined(separator: "|")
            }
        }
        return all
    }
}
