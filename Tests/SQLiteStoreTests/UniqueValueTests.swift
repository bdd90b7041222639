import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Values of unique columns that pass from row to row within one commit.
@Suite struct UniqueValueTests {
    /// Tables in which `slot` is unique in one way or another.
    private static let schemas = [
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT UNIQUE)",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT NOT NULL UNIQUE CHECK (slot GLOB '[a-z0-9]'))",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT NOT NULL UNIQUE) WITHOUT ROWID",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT NOT NULL UNIQUE) STRICT",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT COLLATE NOCASE UNIQUE)",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT, extra TEXT DEFAULT 'x', UNIQUE (extra, slot))",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT); CREATE UNIQUE INDEX s ON t (slot) WHERE slot > ''",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT); CREATE UNIQUE INDEX s ON t (coalesce(lower(slot), ''))",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT, low TEXT AS (lower(slot)) UNIQUE)",
        "CREATE TABLE t (slot TEXT PRIMARY KEY, id TEXT UNIQUE)",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT UNIQUE ON CONFLICT REPLACE)",
        "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT NOT NULL UNIQUE ON CONFLICT IGNORE)",
    ]

    private func sync(
        _ fixture: StoreFixture, _ slots: KeyValuePairs<String, String>, mode: SyncMode = .mirror
    ) throws -> MergeCounts {
        try fixture.commit(MergeRule(sync: mode, keys: ["t": ["id"]])) { context in
            for (id, slot) in slots { try context.insert(into: "t", ["id": id, "slot": slot]) }
        }
    }

    private func slots(_ fixture: StoreFixture) throws -> [String] {
        try fixture.rows("SELECT id, slot FROM t ORDER BY id")
    }

    @Test(arguments: schemas) func valuesThatAreSwappedOrShifted(schema: String) async throws {
        try await StoreFixture.with(schema) { fixture in
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

    /// What is really there twice is refused, as before.
    @Test(arguments: [0, 1, 2, 3, 7, 8]) func valuesThatTwoRowsHave(schema: Int) async throws {
        try await StoreFixture.with(Self.schemas[schema]) { fixture in
            _ = try sync(fixture, ["a": "1", "b": "2", "c": "3"])
            let error = #expect(throws: StoreError.self) {
                try sync(fixture, ["a": "3", "b": "1"], mode: .upsert)
            }
            #expect(error?.code == .constraint && error?.message.contains("UNIQUE") == true)
            #expect(try slots(fixture) == ["a|1", "b|2", "c|3"])
        }
    }

    @Test(arguments: ["", " STRICT"]) func numbers(strict: String) async throws {
        let schema =
            "CREATE TABLE t (k TEXT UNIQUE NOT NULL, id INTEGER PRIMARY KEY, rank INTEGER NOT NULL UNIQUE)\(strict)"
        try await StoreFixture.with(schema) { fixture in
            func sync(_ rows: [(String, Int, Int)]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror, keys: ["t": ["k"]])) { context in
                    for row in rows { try context.insert(into: "t", ["k": row.0, "id": row.1, "rank": row.2]) }
                }
            }
            _ = try sync([("a", 1, .min), ("b", 2, .max), ("c", 3, 0)])
            let swapped = try sync([("a", 2, 10), ("b", 3, 20), ("c", 1, 30)])
            #expect(swapped == MergeCounts(updated: 3))
            let shifted = try sync([("a", 3, 20), ("b", 4, 30), ("c", 2, 40)])
            #expect(shifted == MergeCounts(updated: 3))
            #expect(try fixture.rows("SELECT * FROM t ORDER BY k") == ["a|3|20", "b|4|30", "c|2|40"])
        }
    }

    /// A full-text index that triggers keep stays the table's.
    @Test func triggersKeepTheirIndex() async throws {
        let schema = """
            CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT UNIQUE);
            CREATE VIRTUAL TABLE words USING fts5 (slot, content = 't');
            CREATE TRIGGER added AFTER INSERT ON t BEGIN INSERT INTO words (rowid, slot) VALUES (new.rowid, new.slot); END;
            CREATE TRIGGER changed AFTER UPDATE ON t BEGIN
                INSERT INTO words (words, rowid, slot) VALUES ('delete', old.rowid, old.slot);
                INSERT INTO words (rowid, slot) VALUES (new.rowid, new.slot);
            END;
            """
        try await StoreFixture.with(schema) { fixture in
            _ = try sync(fixture, ["a": "one", "b": "two"])
            let swapped = try sync(fixture, ["a": "two", "b": "one"])
            #expect(swapped == MergeCounts(updated: 2))
            try await fixture.store.pool.write {
                try $0.execute(sql: "INSERT INTO words (words) VALUES ('integrity-check')")
            }
            #expect(try fixture.rows("SELECT rowid FROM words WHERE words MATCH 'one'") == ["2"])
        }
    }

    @Test func rowsOfDifferentShapes() async throws {
        try await StoreFixture.with("CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT UNIQUE, note TEXT)") { fixture in
            func sync(_ a: String, _ b: String, _ c: String) throws -> MergeCounts {
                try fixture.commit { context in
                    try context.insert(into: "t", ["id": "a", "slot": a])
                    try context.insert(into: "t", ["id": "b", "slot": b, "note": "n"])
                    try context.insert(into: "t", ["id": c, "slot": "9"])
                }
            }
            _ = try sync("1", "2", "c")
            let swapped = try sync("2", "1", "c")
            #expect(swapped == MergeCounts(updated: 2, unchanged: 1))
            #expect(try fixture.rows("SELECT * FROM t ORDER BY id") == ["a|2|NULL", "b|1|n", "c|9|NULL"])
        }
    }
}
