import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore

/// What foreign keys change along with the rows of a commit is logged and counted.
@Suite struct CascadeTests {
    private func parents(_ ids: [String]) -> MergeFixture.Request {
        (MergeRule(sync: .mirror), { context in for id in ids { try context.insert(into: "parent", ["id": id]) } })
    }

    /// Generation after generation, around circles, by keys of two columns, without primary keys, in other schemas.
    @Test func descendants() async throws {
        let schema = """
            CREATE SCHEMA other;
            CREATE TABLE parent (id text PRIMARY KEY, next text);
            CREATE TABLE child (a text REFERENCES parent ON DELETE CASCADE, b bigint, PRIMARY KEY (a, b));
            CREATE TABLE leaf (
                id text UNIQUE, a text, b bigint, up text REFERENCES leaf (id) ON DELETE CASCADE,
                FOREIGN KEY (a, b) REFERENCES child ON DELETE CASCADE);
            CREATE TABLE other.note (
                id bigint PRIMARY KEY, leaf text REFERENCES leaf (id) ON DELETE SET NULL, text text);
            ALTER TABLE parent ADD FOREIGN KEY (next) REFERENCES leaf (id) ON DELETE CASCADE;
            """
        try await MergeFixture.with(schema) { (fixture) async throws in
            try fixture.commit([parents(["p1", "p2"])])
            try fixture.execute(
                """
                INSERT INTO child VALUES ('p1', 1), ('p1', 2), ('p2', 1);
                INSERT INTO leaf VALUES ('l1', 'p1', 1, NULL), ('l2', NULL, NULL, 'l1'), ('l3', NULL, NULL, NULL);
                INSERT INTO parent VALUES ('p3', 'l2');
                INSERT INTO child VALUES ('p3', 1);
                INSERT INTO other.note VALUES (1, 'l2', 'two'), (2, 'l3', 'three');
                """)
            // p3 is not in the feed either, and is counted once.
            let deleted = try fixture.commit([parents(["p2"])])
            #expect(deleted == MergeCounts(updated: 1, deleted: 7, unchanged: 1))
            let changes = try fixture.rows(
                """
                SELECT "table", CASE "table" WHEN 'leaf' THEN '?' ELSE key END, operation FROM tributary_change
                WHERE run > 1 ORDER BY 1, 2, 3
                """)
            #expect(
                changes == [
                    "child|[\"p1\",1]|delete", "child|[\"p1\",2]|delete", "child|[\"p3\",1]|delete", "leaf|?|delete",
                    "leaf|?|delete", "other.note|1|update", "parent|p1|delete", "parent|p3|delete",
                ])
            #expect(try fixture.rows("SELECT leaf, text FROM other.note ORDER BY 2 DESC") == ["NULL|two", "l3|three"])
        }
    }

    /// The parent's collation decides, as it does for the foreign key itself.
    @Test func childrenOfAnotherCollation() async throws {
        let schema = """
            CREATE TABLE parent (id text COLLATE "C" PRIMARY KEY, code text COLLATE "C" UNIQUE);
            CREATE TABLE child (
                id text PRIMARY KEY, parent text COLLATE "POSIX" REFERENCES parent ON DELETE CASCADE,
                code text COLLATE "POSIX" REFERENCES parent (code) ON UPDATE CASCADE);
            """
        try await MergeFixture.with(schema) { (fixture) async throws in
            func sync(_ parents: [String], _ code: String) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for id in parents { try context.insert(into: "parent", ["id": id, "code": id + code]) }
                }
            }
            _ = try sync(["a", "b"], "1")
            try fixture.execute("INSERT INTO child VALUES ('c', 'a', 'b1'), ('d', 'b', 'b1')")
            let changed = try sync(["b"], "2")
            #expect(changed == MergeCounts(updated: 2, deleted: 2))
            #expect(try fixture.rows("SELECT * FROM child") == ["d|b|b2"])
        }
    }
}
