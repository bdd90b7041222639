import FeedModel
import Foundation
import GRDB
import TestStores
import Testing

@testable import FeedStaging
@testable import FeedStores

/// Values of unique columns that pass from row to row within one commit.
@Suite(.onEachStore) struct UniqueValueTests {
    private func sync(
        _ fixture: StackFixture, _ slots: KeyValuePairs<String, String>, mode: SyncMode = .mirror
    ) throws -> MergeCounts {
        try fixture.commit(MergeRule(sync: mode, keys: ["t": ["id"]])) { context in
            for (id, slot) in slots { try context.insert(into: "t", ["id": id, "slot": slot]) }
        }
    }

    private func slots(_ fixture: StackFixture) throws -> [String] {
        try fixture.rows("SELECT id, slot FROM t ORDER BY id")
    }

    /// Children that refer to the column follow the row that they belong to.
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
            let swapped = try sync(fixture, ["a": "2", "b": "1"])
            #expect(swapped == MergeCounts(updated: 4))
            #expect(try fixture.rows("SELECT * FROM child ORDER BY id") == ["of a|2", "of b|1"])
            // Nobody said that it should follow: it belongs to whoever has the slot.
            #expect(try fixture.rows("SELECT * FROM guest") == ["g|1"])
            #expect(try fixture.rows("SELECT * FROM owned") == ["a", "b"])
            let orphan = #expect(throws: StoreError.self) { try sync(fixture, ["a": "3", "b": "2"]) }
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
}
