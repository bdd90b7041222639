import FeedModel
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Changes of one commit that meet: cascades, unique values and changed row ids.
@Suite struct CombinedChangesTests {
    private typealias Request = (rule: MergeRule, stage: (WorkerContext) throws -> Void)

    private func rows(
        _ table: String, key: [String]? = nil,
        _ rows: [KeyValuePairs<String, (any DatabaseValueConvertible)?>]
    ) -> Request {
        (
            MergeRule(sync: .upsert, keys: key.map { [table: $0] } ?? [:]),
            { context in for row in rows { try context.insert(into: table, row) } }
        )
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
}
