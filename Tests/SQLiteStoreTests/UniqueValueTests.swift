import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Values of unique columns that pass from row to row within one commit.
@Suite struct UniqueValueTests {
    private func sync(
        _ fixture: StoreFixture, _ slots: KeyValuePairs<String, String>, mode: SyncMode = .mirror
    ) throws -> MergeCounts {
        try fixture.commit(MergeRule(sync: mode, keys: ["t": ["id"]])) { context in
            for (id, slot) in slots { try context.insert(into: "t", ["id": id, "slot": slot]) }
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
}
