import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Tables that are not the plain ones: STRICT, with expression indexes, odd types and names; and what is no table.
@Suite struct TableKindTests {
    @Test func anyKeepsWhatItGets() async throws {
        let schema = "CREATE TABLE t (id ANY PRIMARY KEY, v ANY) STRICT"
        try await StoreFixture.with(schema) { fixture in
            func sync() throws -> MergeCounts {
                try fixture.commit { context in
                    try context.insert(into: "t", ["id": "007", "v": "1e3"])
                    try context.insert(into: "t", ["id": 7, "v": 1.0])
                }
            }
            let first = try sync()
            #expect(first == MergeCounts(inserted: 2))
            #expect(try sync() == MergeCounts(unchanged: 2))
            #expect(
                try fixture.rows("SELECT id, typeof(id), v, typeof(v) FROM t") == [
                    "007|text|1e3|text", "7|integer|1.0|real",
                ])
        }
    }

    /// The version of a schema that was rolled back is given again, to another schema.
    @Test func aSchemaThatWasRolledBackIsForgotten() async throws {
        struct Failure: Error {}
        try await StoreFixture.with("CREATE TABLE t (id INTEGER PRIMARY KEY)") { fixture in
            let (pool, infos) = (fixture.store.pool, fixture.store.tableInfos)
            #expect(throws: Failure.self) {
                try pool.write { db in
                    try db.execute(sql: "CREATE TABLE lost (id INTEGER PRIMARY KEY)")
                    #expect(try infos.info(of: "lost", in: db) != nil)
                    throw Failure()
                }
            }
            try await pool.write { try $0.execute(sql: "CREATE TABLE kept (id INTEGER PRIMARY KEY)") }
            #expect(try pool.unsafeRead { try infos.info(of: "lost", in: $0) } == nil)
            #expect(try pool.unsafeRead { try infos.info(of: "kept", in: $0) } != nil)
        }
    }

    @Test func anyElsewhereIsNumeric() async throws {
        try await StoreFixture.with("CREATE TABLE t (id ANY PRIMARY KEY, v TEXT)") { fixture in
            func sync(_ ids: [String]) throws -> MergeCounts {
                try fixture.commit { context in for id in ids { try context.insert(into: "t", ["id": id, "v": "x"]) } }
            }
            let first = try sync(["007", "7"])
            #expect(first == MergeCounts(inserted: 1, replaced: 1))
            #expect(try sync(["7.0"]) == MergeCounts(unchanged: 1))
        }
    }

    @Test(arguments: [
        "CREATE UNIQUE INDEX i ON t (lower(id))", "CREATE UNIQUE INDEX i ON t (id, lower(v))",
        "CREATE UNIQUE INDEX i ON t (id) WHERE v > ''",
    ])
    func anIndexThatDoesNotMakeTheKeyUnique(index: String) async throws {
        try await StoreFixture.with("CREATE TABLE t (id TEXT, v TEXT); \(index)") { fixture in
            let error = #expect(throws: StoreError.self) {
                try fixture.commit(MergeRule(keys: ["t": ["id"]])) { try $0.insert(into: "t", ["id": "a", "v": "1"]) }
            }
            #expect(error?.message.contains("no unique index") == true)
        }
    }

    @Test(arguments: [
        "CREATE TABLE base (id TEXT PRIMARY KEY); CREATE VIEW target AS SELECT * FROM base",
        "CREATE VIRTUAL TABLE target USING fts5 (id)",
    ])
    func whatIsNoTable(schema: String) async throws {
        try await StoreFixture.with(schema) { fixture in
            let error = #expect(throws: StoreError.self) {
                try fixture.commit { try $0.insert(into: "target", ["id": "a"]) }
            }
            #expect(error?.message.contains("merged into tables only") == true)
        }
    }

    /// SQLite would replace or skip rows without an error.
    @Test(arguments: [
        ("id TEXT PRIMARY KEY ON CONFLICT REPLACE, v TEXT", "ON CONFLICT REPLACE"),
        ("id TEXT PRIMARY KEY, v TEXT UNIQUE on  conflict /* new */ ignore", "ON CONFLICT IGNORE"),
        ("id TEXT PRIMARY KEY, v TEXT NOT NULL ON CONFLICT FAIL", "ON CONFLICT FAIL"),
        ("id TEXT PRIMARY KEY, v TEXT, CONSTRAINT one UNIQUE (v) ON CONFLICT ROLLBACK", "ON CONFLICT ROLLBACK"),
    ])
    func conflictClauses(columns: String, clause: String) async throws {
        try await StoreFixture.with("CREATE TABLE t (\(columns))") { fixture in
            let error = #expect(throws: StoreError.self) {
                try fixture.commit { try $0.insert(into: "t", ["id": "a", "v": "1"]) }
            }
            #expect(error?.message.contains("table 't' is defined with \(clause)") == true, "\(error?.message ?? "")")
        }
    }

    @Test func oddTypesAndNames() async throws {
        let schema = """
            CREATE TABLE "select [x] 🙂" (
                "a b" "odd; type)" PRIMARY KEY, "order" [x y], "qu""ote" VARCHAR(10) COLLATE NOCASE, oid DECIMAL(10, 2))
            """
        try await StoreFixture.with(schema) { fixture in
            func sync(_ value: String) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    try context.insert(
                        into: "select [x] 🙂",
                        ["a b": "01", "order": value, "qu\"ote": "Q", "oid": "1.50"])
                }
            }
            let first = try sync("x")
            #expect(first == MergeCounts(inserted: 1))
            #expect(try sync("x") == MergeCounts(unchanged: 1))
            #expect(try sync("y") == MergeCounts(updated: 1))
            #expect(try fixture.rows("SELECT * FROM \"select [x] 🙂\"") == ["1|y|Q|1.5"])
        }
    }

    @Test func keysThatAreNoRowIDs() async throws {
        for type in ["INTEGER PRIMARY KEY DESC", "INT PRIMARY KEY"] {
            try await StoreFixture.with("CREATE TABLE t (id \(type), v TEXT)") { fixture in
                for value in ["1", "2"] { try fixture.commit { try $0.insert(into: "t", ["id": 5, "v": value]) } }
                #expect(try fixture.rows("SELECT * FROM t") == ["5|2"])
            }
        }
    }

    @Test func everyNameOfTheRowIDIsTaken() async throws {
        try await StoreFixture.with("CREATE TABLE t (rowid TEXT, _rowid_ TEXT, oid TEXT)") { fixture in
            let error = #expect(throws: StoreError.self) {
                try fixture.commit { try $0.insert(into: "t", ["oid": "a"]) }
            }
            #expect(error?.message.contains("row id") == true)
        }
    }

    /// Keys that the column equates are one row, in one feed and from one run to the next.
    @Test(arguments: [
        ("INTEGER", "1", "01"), ("NUMERIC", "1", "1.0"), ("REAL", "1", "1.0"), ("TEXT COLLATE NOCASE", "X", "x"),
        ("TEXT COLLATE RTRIM", "a", "a  "),
    ])
    func keysThatTheColumnEquates(type: String, one: String, other: String) async throws {
        try await StoreFixture.with("CREATE TABLE t (id \(type), v TEXT, UNIQUE (id))") { fixture in
            func sync(_ rows: [(String, String)], filler: String = "") throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror, keys: ["t": ["id"]])) { context in
                    for (id, v) in rows { try context.insert(into: "t", ["id": id, "v": v + filler]) }
                }
            }
            let first = try sync([(one, "1"), (other, "2"), ("9", "n")])
            #expect(first == MergeCounts(inserted: 2, replaced: 1))
            #expect(try sync([(other, "1"), (one, "2"), ("9", "n")]) == MergeCounts(unchanged: 2, replaced: 1))
            #expect(try sync([(other, "3")]) == MergeCounts(updated: 1, deleted: 1))
            #expect(try fixture.rows("SELECT v FROM t") == ["3"])
            // Enough for several batches, in the order of the key where that can be.
            let filler = String(repeating: "x", count: 400)
            let many = (0..<6000).map { ($0 % 2 == 0 ? one : other, "\($0)") }
            #expect(try sync(many, filler: filler) == MergeCounts(updated: 1, replaced: 5999))
            #expect(try fixture.rows("SELECT substr(v, 1, 5) FROM t") == ["5999x"])
        }
    }
}
