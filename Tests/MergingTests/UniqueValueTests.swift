import FeedModel
import Foundation
import GRDB
import TestStores
import Testing

@testable import FeedStaging
@testable import FeedStores

/// Values of unique columns that pass from row to row within one commit.
@Suite(.onEachStore) struct UniqueValueTests {
    /// A table in which `slot` is unique in one way or another; of one store only where a kind is given.
    struct Schema: CustomTestStringConvertible {
        var sql: String
        var kind: StoreKind?
        /// True where two rows with one slot are refused at once, and in words that name the constraint.
        var refuses = false
        /// True where a slot cannot pass from row to row, because no row can give it up for NULL.
        var holds = false

        var isThere: Bool { kind ?? .current == .current }
        var testDescription: String { sql }
    }

    static let schemas = [
        Schema(sql: "CREATE TABLE t (id text PRIMARY KEY, slot text UNIQUE)", refuses: true),
        Schema(sql: "CREATE TABLE t (id text PRIMARY KEY, slot text NOT NULL UNIQUE)", refuses: true, holds: true),
        Schema(
            sql: "CREATE TABLE t (id text PRIMARY KEY, slot text, extra text DEFAULT 'x', UNIQUE (extra, slot))",
            refuses: true),
        Schema(
            sql: "CREATE TABLE t (id text PRIMARY KEY, slot text); CREATE UNIQUE INDEX s ON t (slot) WHERE slot > ''"),
        Schema(
            sql: """
                CREATE TABLE t (id text PRIMARY KEY, slot text);
                CREATE UNIQUE INDEX s ON t (coalesce(lower(slot), ''))
                """, refuses: true, holds: true),
        Schema(
            sql:
                "CREATE TABLE t (id text PRIMARY KEY, slot text, low text GENERATED ALWAYS AS (lower(slot)) STORED UNIQUE)",
            refuses: true),
        // SQLite's primary keys take NULL.
        Schema(sql: "CREATE TABLE t (slot TEXT PRIMARY KEY, id TEXT UNIQUE)", kind: .sqlite),
        Schema(sql: "CREATE TABLE t (slot text PRIMARY KEY, id text UNIQUE)", kind: .postgres, holds: true),
        Schema(
            sql: "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT UNIQUE CHECK (slot GLOB '[a-z0-9]'))",
            kind: .sqlite, refuses: true),
        Schema(
            sql: "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT UNIQUE CHECK (slot IS NOT NULL))",
            kind: .sqlite, refuses: true, holds: true),
        Schema(
            sql: "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT UNIQUE) WITHOUT ROWID", kind: .sqlite,
            refuses: true),
        Schema(
            sql: "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT NOT NULL UNIQUE) WITHOUT ROWID", kind: .sqlite,
            refuses: true, holds: true),
        Schema(sql: "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT UNIQUE) STRICT", kind: .sqlite, refuses: true),
        Schema(sql: "CREATE TABLE t (id TEXT PRIMARY KEY, slot TEXT COLLATE NOCASE UNIQUE)", kind: .sqlite),
        Schema(sql: "CREATE TABLE t (id text PRIMARY KEY, slot varchar(12) UNIQUE)", kind: .postgres),
        Schema(
            sql: """
                CREATE TABLE t (
                    id text PRIMARY KEY, slot text NOT NULL UNIQUE DEFERRABLE CHECK (slot ~ '^[a-z0-9]$'))
                """, kind: .postgres),
        Schema(sql: "CREATE TABLE t (id text PRIMARY KEY, slot smallint UNIQUE)", kind: .postgres),
        Schema(
            sql: "CREATE TABLE t (id text PRIMARY KEY, slot numeric(6, 2) NOT NULL UNIQUE)", kind: .postgres,
            holds: true),
        Schema(sql: "CREATE TABLE t (id text PRIMARY KEY, slot text, EXCLUDE (slot WITH =))", kind: .postgres),
    ]

    private func sync(
        _ fixture: StackFixture, _ slots: KeyValuePairs<String, String>, mode: SyncMode = .mirror
    ) throws -> MergeCounts {
        try fixture.commit(MergeRule(sync: mode, keys: ["t": ["id"]])) { context in
            for (id, slot) in slots { try context.insert(into: "t", ["id": id, "slot": slot]) }
        }
    }

    private func slots(_ fixture: StackFixture) throws -> [String] {
        try fixture.rows("SELECT id, CAST(CAST(slot AS float) AS integer) FROM t ORDER BY id")
    }

    @Test(arguments: schemas.filter { !$0.holds }) func valuesThatAreSwappedOrShifted(schema: Schema) async throws {
        guard schema.isThere else { return }
        try await StackFixture.with(schema.sql) { (fixture) async throws in
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
            let changes = try fixture.rows(
                "SELECT operation, count(*) FROM tributary_change WHERE run > 1 GROUP BY 1 ORDER BY 1")
            #expect(changes == ["delete|1", "insert|1", "update|13"])
            let again = try sync(fixture, ["e": "4", "a": "1", "b": "3", "d": "0"])
            #expect(again == MergeCounts(unchanged: 4))
        }
    }

    /// What the database refuses because no row can give up its value first.
    @Test(arguments: schemas.filter(\.holds)) func valuesThatCannotPass(schema: Schema) async throws {
        guard schema.isThere else { return }
        try await StackFixture.with(schema.sql) { (fixture) async throws in
            _ = try sync(fixture, ["a": "1", "b": "2", "c": "3"])
            let error = #expect(throws: StoreError.self) { try sync(fixture, ["a": "2", "b": "1", "c": "3"]) }
            let message = error?.message ?? ""
            #expect(error?.code == .constraint && message.lowercased().contains("unique"), "\(message)")
            // An index and a check do not say which values they take.
            let isKnown = !schema.sql.contains("coalesce") && !schema.sql.contains("IS NOT NULL")
            #expect(message.contains("column 'slot' cannot pass from one row to another") == isKnown, "\(message)")
            #expect(try slots(fixture) == ["a|1", "b|2", "c|3"])
            // Values that no other row has, or that a deleted row had.
            let moved = try sync(fixture, ["a": "3", "b": "4"])
            #expect(moved == MergeCounts(updated: 2, deleted: 1))
            #expect(try slots(fixture) == ["a|3", "b|4"])
        }
    }

    /// A value that two rows really have is refused.
    @Test(arguments: schemas.filter(\.refuses)) func valuesThatTwoRowsHave(schema: Schema) async throws {
        guard schema.isThere else { return }
        try await StackFixture.with(schema.sql) { (fixture) async throws in
            _ = try sync(fixture, ["a": "1", "b": "2", "c": "3"])
            let error = #expect(throws: StoreError.self) {
                try sync(fixture, ["a": "3", "b": "1"], mode: .upsert)
            }
            #expect(error?.code == .constraint && error?.message.lowercased().contains("unique") == true)
            #expect(try slots(fixture) == ["a|1", "b|2", "c|3"])
        }
    }

    @Test(arguments: [
        ("INTEGER", StoreKind.sqlite), ("INTEGER", nil), ("bigint", .postgres), ("double precision", .postgres),
    ]) func numbers(type: String, kind: StoreKind?) async throws {
        guard kind ?? .current == .current else { return }
        let key = StoreKind.current == .sqlite ? "INTEGER" : "bigint"
        let isStrict = kind == .sqlite ? " STRICT" : ""
        let schema =
            "CREATE TABLE t (k text UNIQUE NOT NULL, id \(key) PRIMARY KEY, rank \(type) UNIQUE)\(isStrict)"
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ rows: [(String, Int, Int)]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror, keys: ["t": ["k"]])) { context in
                    for row in rows { try context.insert(into: "t", ["k": row.0, "id": row.1, "rank": row.2]) }
                }
            }
            let isWide = StoreKind.current == .sqlite
            _ = try sync([
                ("a", 1, isWide ? .min : Int(Int32.min)), ("b", 2, isWide ? .max : Int(Int32.max)), ("c", 3, 0),
            ])
            _ = try sync([("a", 1, 10), ("b", 2, 20), ("c", 3, 30)])
            let swapped = try sync([("a", 1, 30), ("b", 2, 10), ("c", 3, 20)])
            #expect(swapped == MergeCounts(updated: 3))
            let shifted = try sync([("a", 1, 10), ("b", 2, 20), ("c", 3, 40)])
            #expect(shifted == MergeCounts(updated: 3))
            let error = #expect(throws: StoreError.self) { try sync([("a", 2, 10), ("b", 1, 20), ("c", 3, 40)]) }
            #expect(error?.message.contains("column 'id' cannot pass") == true, "\(error?.message ?? "")")
            #expect(
                try fixture.rows("SELECT k, id, CAST(rank AS bigint) FROM t ORDER BY k") == [
                    "a|1|10", "b|2|20", "c|3|40",
                ])
        }
    }

    @Test func rowsOfDifferentShapes() async throws {
        let schema = "CREATE TABLE t (id text PRIMARY KEY, slot text UNIQUE, note text)"
        try await StackFixture.with(schema) { (fixture) async throws in
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

    /// Children that refer to the column follow the row that they belong to, but not through NULL.
    @Test func childrenFollow() async throws {
        let schema = """
            CREATE TABLE t (id text PRIMARY KEY, slot text UNIQUE);
            CREATE TABLE child (id text PRIMARY KEY, slot text UNIQUE REFERENCES t (slot) ON UPDATE CASCADE);
            CREATE TABLE guest (
                id text PRIMARY KEY, slot text CONSTRAINT guests REFERENCES t (slot) DEFERRABLE);
            CREATE TABLE owned (t text REFERENCES t ON DELETE CASCADE);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            _ = try sync(fixture, ["a": "1", "b": "2"])
            try fixture.execute(
                """
                INSERT INTO child VALUES ('of a', '1'), ('of b', '2'); INSERT INTO guest VALUES ('g', '1');
                INSERT INTO owned VALUES ('a'), ('b')
                """)
            let error = #expect(throws: StoreError.self) { try sync(fixture, ["a": "2", "b": "1"]) }
            #expect(error?.message.contains("ON UPDATE CASCADE") == true, "\(error?.message ?? "")")
            let moved = try sync(fixture, ["a": "1", "b": "3"])
            #expect(moved == MergeCounts(updated: 2, unchanged: 1))
            #expect(try fixture.rows("SELECT * FROM child ORDER BY id") == ["of a|1", "of b|3"])
            #expect(try fixture.rows("SELECT * FROM owned") == ["a", "b"])
            // Nobody said that the guest should follow.
            let orphan = #expect(throws: StoreError.self) { try sync(fixture, ["a": "4", "b": "3"]) }
            #expect(orphan?.message.contains("guest") == true)
        }
    }

    /// A parent waits to be deleted until its children have moved, and gives its values up before.
    @Test func valuesOfRowsThatWaitToBeDeleted() async throws {
        let schema = """
            CREATE TABLE t (id text PRIMARY KEY, slot text UNIQUE);
            CREATE TABLE child (id text PRIMARY KEY, t text REFERENCES t ON DELETE CASCADE, remark text);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ id: String) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    try context.insert(into: "child", ["id": "c", "t": id])
                    try context.insert(into: "t", ["id": id, "slot": "same"])
                }
            }
            _ = try sync("a")
            try fixture.execute("UPDATE child SET remark = 'mine'")
            let moved = try sync("b")
            #expect(moved == MergeCounts(inserted: 1, updated: 1, deleted: 1))
            #expect(try fixture.rows("SELECT * FROM child") == ["c|b|mine"])
        }
    }

    /// Where it cannot give them up, its deletion would delete the child, with the remark of another program.
    @Test func valuesThatARowKeepsUntilItIsDeleted() async throws {
        let schema = """
            CREATE TABLE t (id text PRIMARY KEY, slot text NOT NULL UNIQUE);
            CREATE TABLE child (id text PRIMARY KEY, t text REFERENCES t ON DELETE CASCADE, remark text);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ id: String, _ slot: String) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    try context.insert(into: "child", ["id": "c", "t": id])
                    try context.insert(into: "t", ["id": id, "slot": slot])
                }
            }
            _ = try sync("a", "same")
            try fixture.execute("UPDATE child SET remark = 'mine'")
            let error = #expect(throws: StoreError.self) { try sync("b", "same") }
            #expect(error?.message.contains("column 'slot' cannot pass") == true, "\(error?.message ?? "")")
            #expect(try fixture.rows("SELECT * FROM child") == ["c|a|mine"])
            let moved = try sync("b", "other")
            #expect(moved == MergeCounts(inserted: 1, updated: 1, deleted: 1))
            #expect(try fixture.rows("SELECT * FROM child") == ["c|b|mine"])
        }
    }
}
