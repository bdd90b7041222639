import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore

/// Values of unique columns that pass from row to row within one commit.
@Suite struct UniqueValueTests {
    /// Tables in which `slot` is unique in one way or another.
    private static let schemas = [
        "CREATE TABLE t (id text PRIMARY KEY, slot text UNIQUE)",
        "CREATE TABLE t (id text PRIMARY KEY, slot text NOT NULL UNIQUE)",
        "CREATE TABLE t (id text PRIMARY KEY, slot varchar(12) NOT NULL UNIQUE)",
        "CREATE TABLE t (id text PRIMARY KEY, slot text, extra text DEFAULT 'x', UNIQUE (extra, slot))",
        "CREATE TABLE t (id text PRIMARY KEY, slot text); CREATE UNIQUE INDEX s ON t (slot) WHERE slot > ''",
        "CREATE TABLE t (id text PRIMARY KEY, slot text); CREATE UNIQUE INDEX s ON t (coalesce(lower(slot), ''))",
        """
        CREATE TABLE t (
            id text PRIMARY KEY, slot text, low text GENERATED ALWAYS AS (lower(slot)) STORED UNIQUE)
        """,
        "CREATE TABLE t (slot text PRIMARY KEY, id text UNIQUE)",
        "CREATE TABLE t (id text PRIMARY KEY, slot text NOT NULL UNIQUE DEFERRABLE CHECK (slot ~ '^[a-z0-9]$'))",
        "CREATE TABLE t (id text PRIMARY KEY, slot smallint NOT NULL UNIQUE)",
        "CREATE TABLE t (id text PRIMARY KEY, slot numeric(6, 2) NOT NULL UNIQUE)",
        "CREATE TABLE t (id text PRIMARY KEY, slot text, EXCLUDE (slot WITH =))",
    ]

    private func sync(
        _ fixture: MergeFixture, _ slots: KeyValuePairs<String, String>, mode: SyncMode = .mirror
    ) throws -> MergeCounts {
        try fixture.commit(MergeRule(sync: mode, keys: ["t": ["id"]])) { context in
            for (id, slot) in slots { try context.insert(into: "t", ["id": id, "slot": slot]) }
        }
    }

    private func slots(_ fixture: MergeFixture) throws -> [String] {
        try fixture.rows("SELECT id, trim_scale(slot::text::numeric) FROM t ORDER BY id")
    }

    @Test(arguments: schemas) func valuesThatAreSwappedOrShifted(schema: String) async throws {
        try await MergeFixture.with(schema) { (fixture) async throws in
            _ = try sync(fixture, ["a": "1", "b": "2", "c": "3", "d": "4"])
            let swapped = try sync(fixture, ["a": "2", "b": "1", "c": "3", "d": "4"])
            #expect(swapped == MergeCounts(updated: 2, unchanged: 2))
            #expect(try slots(fixture) == ["a|2", "b|1", "c|3", "d|4"])
            let shifted = try sync(fixture, ["a": "1", "b": "3", "c": "4", "d": "5"])
            #expect(shifted == MergeCounts(updated: 4))
            let back = try sync(fixture, ["a": "0", "b": "1", "c": "3", "d": "4"])
            #expect(back == MergeCounts(updated: 4))
            #expect(try slots(fixture) == ["a|0", "b|1", "c|3", "d|4"])
            // One goes, one comes, and the others close up.
            let moved = try sync(fixture, ["e": "4", "a": "1", "b": "3", "d": "0"])
            #expect(moved == MergeCounts(inserted: 1, updated: 3, deleted: 1))
            #expect(try slots(fixture) == ["a|1", "b|3", "d|0", "e|4"])
            let journal = try fixture.rows(
                "SELECT operation, count(*) FROM tributary_change WHERE run > 1 GROUP BY 1 ORDER BY 1")
            #expect(journal == ["delete|1", "insert|1", "update|13"])
            let again = try sync(fixture, ["e": "4", "a": "1", "b": "3", "d": "0"])
            #expect(again == MergeCounts(unchanged: 4))
        }
    }

    /// What is really there twice is refused.
    @Test(arguments: [0, 1, 3, 5, 6]) func valuesThatTwoRowsHave(schema: Int) async throws {
        try await MergeFixture.with(Self.schemas[schema]) { (fixture) async throws in
            _ = try sync(fixture, ["a": "1", "b": "2", "c": "3"])
            let error = #expect(throws: StoreError.self) {
                try sync(fixture, ["a": "3", "b": "1"], mode: .upsert)
            }
            #expect(error?.code == .constraint && error?.message.contains("unique constraint") == true)
            #expect(try slots(fixture) == ["a|1", "b|2", "c|3"])
        }
    }

    @Test(arguments: ["bigint", "integer", "double precision"]) func numbers(type: String) async throws {
        let schema = "CREATE TABLE t (k text UNIQUE NOT NULL, id bigint PRIMARY KEY, rank \(type) NOT NULL UNIQUE)"
        try await MergeFixture.with(schema) { (fixture) async throws in
            func sync(_ rows: [(String, Int, Int)]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror, keys: ["t": ["k"]])) { context in
                    for row in rows { try context.insert(into: "t", ["k": row.0, "id": row.1, "rank": row.2]) }
                }
            }
            _ = try sync([("a", 1, Int(Int32.min)), ("b", 2, Int(Int32.max)), ("c", 3, 0)])
            let swapped = try sync([("a", 2, 10), ("b", 3, 20), ("c", 1, 30)])
            #expect(swapped == MergeCounts(updated: 3))
            let shifted = try sync([("a", 3, 20), ("b", 4, 30), ("c", 2, 40)])
            #expect(shifted == MergeCounts(updated: 3))
            #expect(try fixture.rows("SELECT * FROM t ORDER BY k") == ["a|3|20", "b|4|30", "c|2|40"])
        }
    }

    @Test(arguments: ["uuid", "date", "timestamptz", "bytea"]) func otherTypes(type: String) async throws {
        try await MergeFixture.with("CREATE TABLE t (id text PRIMARY KEY, slot \(type) NOT NULL UNIQUE)") {
            (fixture) async throws in
            let values: [any DatabaseValueConvertible] =
                switch type {
                case "uuid": [UUID(), UUID()]
                case "bytea": [Data([0]), Data()]
                default: ["2024-01-01", "2024-01-02"]
                }
            func sync(_ first: Int, _ second: Int) throws -> MergeCounts {
                try fixture.commit { context in
                    try context.insert(into: "t", ["id": "a", "slot": values[first]])
                    try context.insert(into: "t", ["id": "b", "slot": values[second]])
                }
            }
            #expect(try sync(0, 1) == MergeCounts(inserted: 2))
            #expect(try sync(1, 0) == MergeCounts(updated: 2))
            #expect(try sync(1, 0) == MergeCounts(unchanged: 2))
        }
    }
}
