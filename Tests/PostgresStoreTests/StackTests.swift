import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

/// Whole commits: rows, claims, validators and the run together.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct StackTests {
    private let schema = "CREATE TABLE item (id text PRIMARY KEY, shop text, price bigint)"

    /// Stages rows as one request's, and returns their stack with the rule's mirror.
    private func stack(
        _ store: PostgresStore, _ source: String, scope: [String: String], _ rows: [(id: String, price: String)]
    ) throws -> (StagedStack, WorkerContext) {
        try store.renewTableInfos(of: nil)
        let context = WorkerContext(store: store, source: source)
        context.beginRequest(0, rule: MergeRule(sync: .mirror, scope: scope))
        for row in rows { try context.insert(into: "item", ["id": row.id, "price": row.price]) }
        return (try context.finish(), context)
    }

    private func merge(
        _ store: PostgresStore, _ source: String, etag: String, scope: [String: String],
        _ rows: [(id: String, price: String)]
    ) throws -> RunReport {
        let (stack, context) = try stack(store, source, scope: scope, rows)
        defer { context.remove() }
        var commit = Commit.of(
            source, [request(etag: etag, scope: scope)], outcome: .committed,
            mirrors: [MirroredRows(table: "item", scope: scope)])
        commit.changesClaims = try store.states(of: source).requests.isEmpty
        return try store.merge(stack, with: commit)
    }

    @Test func rowsValidatorsAndTheRunAreCommittedTogether() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema)
            let first = try merge(store, "a", etag: "1", scope: ["shop": "n"], [("x", "1"), ("y", "2")])
            #expect(first.counts.inserted == 2)
            #expect(try store.states(of: "a").requests["1"]?.validators.etag == "1")
            #expect(try store.value(of: "max(price)", in: "Item", scope: ["Shop": "n"]) == "2")
            #expect(try store.value(of: "max(price)", in: "item", scope: ["shop": "s"]) == nil)
            let second = try merge(store, "a", etag: "2", scope: ["shop": "n"], [("x", "1"), ("z", "3")])
            #expect(second.counts.inserted == 1)
            #expect(second.counts.deleted == 1)
            #expect(second.counts.unchanged == 1)
            let changelog = try database.rows(
                "SELECT run, key, operation FROM tributary_change WHERE run = 2 ORDER BY key")
            #expect(changelog == ["2|y|delete", "2|z|insert"])
            #expect(try store.read { try $0.runs.last(limit: 1) }.first?.counts == second.counts)
            // Its rows are gone with the table, and so is what stands for them.
            try database.connect().execute("DROP TABLE item")
            #expect(try store.states(of: "a").requests["1"]?.validators.isEmpty == true)
            try store.close()
        }
    }

    @Test func aPlanShowsChangesAndMakesNone() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema)
            let (stack, context) = try stack(store, "a", scope: ["shop": "n"], [("x", "1")])
            defer { context.remove() }
            var tables: [String] = []
            let counts = try store.plan(
                stack, mirrors: [], checkMirrors: { _, _, _ in }, limits: [:], retention: Retention(), source: "a"
            ) {
                tables.append($0.table)
            }
            #expect(counts.inserted == 1)
            #expect(tables == ["item"])
            #expect(try database.rows("SELECT count(*) FROM item") == ["0"])
            try store.load(stack)
            #expect(try database.rows("SELECT * FROM item") == ["x|n|1"])
            try store.close()
        }
    }
}
