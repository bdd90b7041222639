import FeedModel
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Changes of one commit that meet: cascades beside appended rows, unique values and changed row ids.
@Suite struct CombinedChangesTests {
    private typealias Request = (rule: MergeRule, stage: (WorkerContext) throws -> Void)

    private func rows(
        _ table: String, sync: SyncMode = .upsert, key: [String]? = nil,
        _ rows: [KeyValuePairs<String, (any DatabaseValueConvertible)?>]
    ) -> Request {
        (
            MergeRule(sync: sync, keys: key.map { [table: $0] } ?? [:]),
            { context in for row in rows { try context.insert(into: table, row) } }
        )
    }

    @Test func appendedRowsBesideACascadeAreAppendedOnce() async throws {
        let schema = """
            CREATE TABLE parent (id TEXT PRIMARY KEY);
            CREATE TABLE log (n INTEGER PRIMARY KEY, parent TEXT REFERENCES parent ON DELETE CASCADE, text TEXT);
            """
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit([
                rows("parent", sync: .mirror, [["id": "p1"], ["id": "p2"]]),
                rows("log", sync: .append, [["parent": "p1", "text": "a"], ["parent": "p2", "text": "b"]]),
            ])
            let counts = try fixture.commit([
                rows("parent", sync: .mirror, [["id": "p2"]]),
                rows("log", sync: .append, [["parent": "p2", "text": "c"]]),
            ])
            #expect(try fixture.rows("SELECT parent, text FROM log ORDER BY n") == ["p2|b", "p2|c"])
            #expect(counts.inserted == 1 && counts.deleted == 2, "\(counts)")
        }
    }

    @Test func aChildThatWasMergedBeforeItsParentIsNotCarriedAlong() async throws {
        let schema = """
            CREATE TABLE parent (id TEXT PRIMARY KEY, code TEXT UNIQUE);
            CREATE TABLE child (id TEXT PRIMARY KEY, code TEXT REFERENCES parent (code) ON UPDATE CASCADE);
            """
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit([
                rows("child", [["id": "c", "code": "a"]]),
                rows("parent", [["id": "p1", "code": "b"], ["id": "p2", "code": "a"]]),
            ])
            try fixture.commit([
                rows("child", [["id": "c", "code": "b"]]),
                rows("parent", [["id": "p1", "code": "c"], ["id": "p2", "code": "b"]]),
            ])
            #expect(try fixture.rows("SELECT id, code FROM child") == ["c|b"])
        }
    }

    @Test func aRowWhoseIdChangesIsInTheChangelog() async throws {
        let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE UNIQUE)"
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit([rows("t", key: ["code"], [["id": 5, "code": "A"]])])
            try fixture.commit([rows("t", key: ["code"], [["id": 6, "code": "a"]])])
            #expect(try fixture.rows("SELECT id, code FROM t") == ["6|A"])
            #expect(try fixture.rows("SELECT key, operation FROM tributary_change WHERE run > 1") == ["A|update"])
        }
    }

    /// The value that one parent takes is that of another that goes: its deletion makes room for the update.
    @Test func aDeletionThatMakesRoomIsLoggedApart() async throws {
        let schema = """
            CREATE TABLE parent (id TEXT PRIMARY KEY, code TEXT UNIQUE);
            CREATE TABLE child (
                id TEXT PRIMARY KEY, code TEXT REFERENCES parent (code) ON UPDATE CASCADE ON DELETE CASCADE);
            """
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit([
                rows("parent", sync: .mirror, [["id": "A", "code": "u"], ["id": "B", "code": "v"]]),
                rows("child", [["id": "c", "code": "v"]]),
            ])
            try fixture.commit([
                rows("parent", sync: .mirror, [["id": "B", "code": "u"]]), rows("child", [["id": "c", "code": "u"]]),
            ])
            #expect(try fixture.rows("SELECT * FROM parent") == ["B|u"])
            #expect(try fixture.rows("SELECT * FROM child") == ["c|u"])
            let changelog = try fixture.rows(
                "SELECT \"table\", key, operation FROM tributary_change WHERE run > 1 ORDER BY 1, 2, 3")
            #expect(changelog == ["child|c|update", "parent|A|delete", "parent|B|update"])
        }
    }
}
