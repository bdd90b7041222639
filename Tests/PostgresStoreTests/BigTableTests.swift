import FeedModel
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging
@testable import FeedStores

/// A small stack for a big table: no statement reads the whole table.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct BigTableTests {
    private static let schema = """
        CREATE TABLE shop (id bigint PRIMARY KEY, code text UNIQUE NOT NULL);
        CREATE TABLE item (
            id text PRIMARY KEY, number integer UNIQUE, shop bigint REFERENCES shop ON DELETE CASCADE, name text);
        CREATE INDEX ON item (shop);
        INSERT INTO shop SELECT n, 'code ' || n FROM generate_series(1, 20000) n;
        INSERT INTO item SELECT 'id ' || n, n, n, 'name ' || n FROM generate_series(1, 20000) n;
        ANALYZE
        """

    /// Merges in a transaction of its own.
    ///
    /// - Returns: what was changed, and the tables of which many rows were read otherwise than by an index.
    private func merge(
        _ fixture: MergeFixture, _ requests: [MergeFixture.Request], _ mirrors: [MirroredRows] = [],
        usesScratch: Bool = false
    ) throws -> (counts: MergeCounts, readWhole: [String]) {
        // The session's counts, which the server has not taken over yet.
        let read = "SELECT relname, seq_tup_read FROM pg_stat_xact_user_tables WHERE relname IN ('item', 'shop')"
        return try fixture.connection.inTransaction {
            let before = try fixture.rows(read)
            let counts = try fixture.merge(requests, mirrors, usesScratch: usesScratch)
            func numbers(_ rows: [String]) -> [String: Int] {
                rows.map { $0.split(separator: "|") }.reduce(into: [:]) { $0[String($1[0])] = Int($1[1]) }
            }
            let old = numbers(before)
            let more = numbers(try fixture.rows(read)).filter { $0.value - (old[$0.key] ?? 0) > 1000 }
            return (counts, more.map { "\($0.key): \($0.value)" })
        }
    }

    @Test(arguments: [false, true]) func byKey(usesScratch: Bool) async throws {
        try await MergeFixture.with(Self.schema) { (fixture) async throws in
            let stage = { (context: WorkerContext) throws in
                // They swap their numbers.
                for number in 1...10 {
                    try context.insert(
                        into: "item", ["id": "id \(number)", "number": 11 - number, "name": "new"])
                }
                try context.insert(into: "item", ["id": "new", "number": 30_000, "name": "new"])
            }
            let (counts, readWhole) = try merge(fixture, [(MergeRule(sync: .upsert), stage)], usesScratch: usesScratch)
            #expect(counts.updated == 10)
            #expect(counts.inserted == 1)
            #expect(readWhole == [])
        }
    }

    @Test func overlaidShapes() async throws {
        try await MergeFixture.with(Self.schema) { (fixture) async throws in
            let stage = { (context: WorkerContext) throws in
                for number in 1...10 {
                    try context.insert(into: "item", ["id": "id \(number)", "name": "new"])
                    if number > 5 { try context.insert(into: "item", ["id": "id \(number)", "number": -number]) }
                }
            }
            let (counts, readWhole) = try merge(fixture, [(MergeRule(sync: .upsert), stage)])
            #expect(counts.updated == 10)
            #expect(readWhole == [])
        }
    }

    @Test func scopesAndChildren() async throws {
        try await MergeFixture.with(Self.schema) { (fixture) async throws in
            let stage = { (context: WorkerContext) throws in
                try context.insert(into: "item", ["id": "id 7", "name": "seven"])
            }
            let rule = MergeRule(sync: .mirror, scope: ["shop": "7"])
            let (counts, readWhole) = try merge(
                fixture, [(rule, stage)], [MirroredRows(table: "item", scope: ["shop": "9"])])
            #expect(counts.updated == 1)
            #expect(counts.deleted == 1)
            let shops = MirroredRows(table: "shop", scope: ["id": "12"])
            let (taken, readForShops) = try merge(fixture, [], [shops])
            #expect(taken.deleted == 2)
            #expect(readWhole + readForShops == [])
        }
    }

    /// Each request has a scope of its own, and may have taken a row from another's.
    @Test func manyScopes() async throws {
        try await MergeFixture.with(Self.schema) { (fixture) async throws in
            let requests = (1...300).map { shop -> MergeFixture.Request in
                (
                    MergeRule(sync: .mirror, scope: ["shop": "\(shop)"]),
                    { try $0.insert(into: "item", ["id": "id \(shop % 300 + 2)", "name": "moved"]) }
                )
            }
            let (counts, readWhole) = try merge(fixture, requests)
            #expect(counts.updated == 300)
            #expect(counts.deleted == 1)
            #expect(readWhole == [])
        }
    }
}
