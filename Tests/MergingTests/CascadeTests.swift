import FeedModel
import Foundation
import GRDB
import TestStores
import Testing

@testable import FeedStaging
@testable import FeedStores

/// What foreign keys change along with the rows of a commit is logged and counted.
@Suite(.onEachStore) struct CascadeTests {
    private func parents(_ ids: [String]) -> StackFixture.Request {
        (MergeRule(sync: .mirror), { context in for id in ids { try context.insert(into: "parent", ["id": id]) } })
    }

    @Test(arguments: [
        ("CASCADE", ["child|c1|delete", "parent|p1|delete"], ["c2|p2"], MergeCounts(deleted: 2, unchanged: 1)),
        (
            "SET NULL", ["child|c1|update", "parent|p1|delete"], ["c1|NULL", "c2|p2"],
            MergeCounts(updated: 1, deleted: 1, unchanged: 1)
        ),
        (
            "SET DEFAULT", ["child|c1|update", "parent|p1|delete"], ["c1|p2", "c2|p2"],
            MergeCounts(updated: 1, deleted: 1, unchanged: 1)
        ),
    ])
    func childrenOfDeletedRows(action: String, changelog: [String], rows: [String], expected: MergeCounts) async throws
    {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY);
            CREATE TABLE child (id text PRIMARY KEY, parent text DEFAULT 'p2' REFERENCES parent ON DELETE \(action));
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            try fixture.commit([parents(["p1", "p2"])])
            try fixture.execute("INSERT INTO child VALUES ('c1', 'p1'), ('c2', 'p2')")
            let deleted = try fixture.commit([parents(["p2"])])
            #expect(deleted == expected)
            #expect(try fixture.changes() == changelog)
            #expect(try fixture.rows("SELECT * FROM child ORDER BY id") == rows)
        }
    }

    @Test(arguments: ["CASCADE", "SET NULL", "RESTRICT"])
    func childrenThatAreMirroredWithTheirParents(action: String) async throws {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY);
            CREATE TABLE child (id text PRIMARY KEY, parent text REFERENCES parent ON DELETE \(action));
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ ids: [String], _ children: KeyValuePairs<String, String>) throws -> MergeCounts {
                try fixture.commit([
                    parents(ids),
                    (
                        MergeRule(sync: .mirror),
                        {
                            for child in children {
                                try $0.insert(into: "child", ["id": child.key, "parent": child.value])
                            }
                        }
                    ),
                ])
            }
            _ = try sync(["p1", "p2"], ["c1": "p1", "c2": "p2", "c3": "p1"])
            for expected in [MergeCounts(inserted: 2, updated: 1, deleted: 2, unchanged: 2), MergeCounts(unchanged: 5)]
            {
                let counts = try sync(["p2", "p3"], ["c1": "p2", "c2": "p2", "c4": "p3"])
                #expect(counts == expected)
            }
            #expect(try fixture.rows("SELECT * FROM child ORDER BY id") == ["c1|p2", "c2|p2", "c4|p3"])
        }
    }

    /// A parent's new key has reached its child before the child's own row is merged.
    @Test func mirroredChildrenFollowTheirParents() async throws {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY, code text UNIQUE);
            CREATE TABLE child (id text PRIMARY KEY, code text REFERENCES parent (code) ON UPDATE CASCADE);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ codes: KeyValuePairs<String, String>) throws {
                let rule = MergeRule(sync: .mirror)
                try fixture.commit(
                    ["parent", "child"].map { table in
                        (rule, { for row in codes { try $0.insert(into: table, ["id": row.key, "code": row.value]) } })
                    })
            }
            try sync(["a": "1", "b": "2"])
            try sync(["a": "3", "b": "2"])
            #expect(try fixture.changes() == ["child|a|update", "parent|a|update"])
            #expect(try fixture.rows("SELECT * FROM child ORDER BY id") == ["a|3", "b|2"])
        }
    }

    /// The parent's old key goes, and its children follow.
    @Test func childrenOfUpdatedRows() async throws {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY, code text UNIQUE);
            CREATE TABLE child (id text PRIMARY KEY, code text UNIQUE REFERENCES parent (code) ON UPDATE CASCADE);
            CREATE TABLE grandchild (
                n bigint PRIMARY KEY, id text, code text REFERENCES child (code) ON UPDATE SET NULL);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ codes: [String: String]) throws -> MergeCounts {
                try fixture.commit { context in
                    for (id, code) in codes.sorted(by: { $0.key < $1.key }) {
                        try context.insert(into: "parent", ["id": id, "code": code])
                    }
                }
            }
            _ = try sync(["a": "1", "b": "2"])
            try fixture.execute(
                "INSERT INTO child VALUES ('c', '1'), ('d', '2'); INSERT INTO grandchild VALUES (1, 'g', '1')")
            let updated = try sync(["a": "9", "b": "2"])
            #expect(updated == MergeCounts(updated: 3, unchanged: 1))
            #expect(try fixture.changes() == ["child|c|update", "grandchild|1|update", "parent|a|update"])
            #expect(try fixture.rows("SELECT * FROM child ORDER BY id") == ["c|9", "d|2"])
            #expect(try fixture.rows("SELECT id, code FROM grandchild") == ["g|NULL"])
        }
    }

    /// A child that the feed moves to another parent stays the row that it is, with what others wrote in it.
    @Test(arguments: [false, true], ["ON DELETE CASCADE", "", "ON DELETE RESTRICT"])
    func childrenThatMove(parentsFirst: Bool, action: String) async throws {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY);
            CREATE TABLE child (
                number INTEGER PRIMARY KEY, id text UNIQUE,
                parent text NOT NULL REFERENCES parent \(action), remark text);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ parent: String) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror, keys: ["child": ["id"]])) { context in
                    if parentsFirst { try context.insert(into: "parent", ["id": parent]) }
                    for child in ["c", "d"] { try context.insert(into: "child", ["id": child, "parent": parent]) }
                    if !parentsFirst { try context.insert(into: "parent", ["id": parent]) }
                }
            }
            _ = try sync("p1")
            try fixture.execute("UPDATE child SET remark = 'mine'")
            let moved = try sync("p2")
            #expect(moved == MergeCounts(inserted: 1, updated: 2, deleted: 1))
            #expect(try fixture.rows("SELECT * FROM child ORDER BY 1") == ["1|c|p2|mine", "2|d|p2|mine"])
            #expect(
                try fixture.changes() == ["child|c|update", "child|d|update", "parent|p1|delete", "parent|p2|insert"])
            let again = try sync("p2")
            #expect(again == MergeCounts(unchanged: 3))
        }
    }

    /// A tree of one table: what the feed has elsewhere moves there before its parent goes.
    @Test func branchesThatMove() async throws {
        let schema =
            "CREATE TABLE node (id text PRIMARY KEY, parent text REFERENCES node ON DELETE CASCADE, remark text)"
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ nodes: [(String, String?)]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for node in nodes { try context.insert(into: "node", ["id": node.0, "parent": node.1]) }
                }
            }
            _ = try sync([("a", nil), ("b", nil), ("c", "a"), ("d", "c")])
            try fixture.execute("UPDATE node SET remark = 'mine'")
            let moved = try sync([("b", nil), ("c", "b"), ("d", "c")])
            #expect(moved == MergeCounts(updated: 1, deleted: 1, unchanged: 2))
            #expect(
                try fixture.rows("SELECT * FROM node ORDER BY 1") == ["b|NULL|mine", "c|b|mine", "d|c|mine"])
            let gone = try sync([("b", nil)])
            #expect(gone == MergeCounts(deleted: 2, unchanged: 1))
        }
    }

    @Test func longChains() async throws {
        let schema = "CREATE TABLE node (id bigint PRIMARY KEY, parent bigint REFERENCES node ON DELETE CASCADE)"
        try await StackFixture.with(schema + "; CREATE INDEX node_parent ON node (parent)") { (fixture) async throws in
            func sync(_ ids: Range<Int>) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    try context.insert(into: "node", ["id": 0, "parent": nil])
                    for id in ids { try context.insert(into: "node", ["id": id, "parent": id == 1 ? nil : id - 1]) }
                }
            }
            _ = try sync(1..<300)
            let gone = try sync(1..<2)
            #expect(gone == MergeCounts(deleted: 298, unchanged: 2))
            try fixture.execute(
                "WITH RECURSIVE ids (id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM ids WHERE id < 300) INSERT INTO node SELECT id, id - 1 FROM ids"
            )
            let taken = try sync(1..<1)
            #expect(taken == MergeCounts(deleted: 300, unchanged: 1))
        }
    }

    /// A row that the feed has, and that goes along with one that it lacks, is inserted again.
    @Test func appendedRowsBesideACascadeAreAppendedOnce() async throws {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY);
            CREATE TABLE log (
                n INTEGER PRIMARY KEY, parent text REFERENCES parent ON DELETE CASCADE,
                text text);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ ids: [String], _ log: [(String, String)]) throws -> MergeCounts {
                try fixture.commit([
                    parents(ids),
                    (
                        MergeRule(sync: .append),
                        { for row in log { try $0.insert(into: "log", ["parent": row.0, "text": row.1]) } }
                    ),
                ])
            }
            _ = try sync(["p1", "p2"], [("p1", "a"), ("p2", "b")])
            let counts = try sync(["p2"], [("p2", "c")])
            #expect(try fixture.rows("SELECT parent, text FROM log ORDER BY n") == ["p2|b", "p2|c"])
            #expect(counts.inserted == 1 && counts.deleted == 2, "\(counts)")
        }
    }

    /// The value that one parent takes is that of another that goes: its deletion makes room for the update.
    @Test func aDeletionThatMakesRoomIsLoggedApart() async throws {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY, code text UNIQUE);
            CREATE TABLE child (
                id text PRIMARY KEY, code text REFERENCES parent (code) ON UPDATE CASCADE ON DELETE CASCADE);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ parents: [(String, String)], _ child: String) throws {
                try fixture.commit([
                    (
                        MergeRule(sync: .mirror),
                        { for row in parents { try $0.insert(into: "parent", ["id": row.0, "code": row.1]) } }
                    ),
                    (MergeRule(), { try $0.insert(into: "child", ["id": "c", "code": child]) }),
                ])
            }
            try sync([("A", "u"), ("B", "v")], "v")
            try sync([("B", "u")], "u")
            #expect(try fixture.rows("SELECT * FROM parent") == ["B|u"])
            #expect(try fixture.rows("SELECT * FROM child") == ["c|u"])
            #expect(try fixture.changes() == ["child|c|update", "parent|A|delete", "parent|B|update"])
        }
    }

    /// The feed has a child whose parent it does not have: nothing is lost without a word.
    @Test func aChildWhoseParentTheFeedLacks() async throws {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY);
            CREATE TABLE child (id text PRIMARY KEY, parent text REFERENCES parent ON DELETE CASCADE);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ parents: [String]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for parent in parents { try context.insert(into: "parent", ["id": parent]) }
                    try context.insert(into: "child", ["id": "c", "parent": "p1"])
                }
            }
            _ = try sync(["p1", "p2"])
            #expect(throws: StoreError.self) { try sync(["p2"]) }
            #expect(try fixture.rows("SELECT * FROM child") == ["c|p1"])
        }
    }

    /// `a1` and `b1` leave the feed, and `c` moves to `b2`: `b1` goes once `c` has left it, and `a1` after `b1`.
    @Test(arguments: ["RESTRICT", "NO ACTION", "CASCADE"])
    func chainsOfParentsGoChildrenFirst(action: String) async throws {
        let schema = """
            CREATE TABLE a (id text PRIMARY KEY);
            CREATE TABLE b (id text PRIMARY KEY, a text NOT NULL REFERENCES a (id) ON DELETE \(action));
            CREATE TABLE c (id text PRIMARY KEY, b text NOT NULL REFERENCES b (id) ON DELETE \(action));
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ numbers: [String]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for number in numbers { try context.insert(into: "a", ["id": "a" + number]) }
                    for number in numbers { try context.insert(into: "b", ["id": "b" + number, "a": "a" + number]) }
                    try context.insert(into: "c", ["id": "c", "b": "b" + numbers[0]])
                }
            }
            _ = try sync(["1", "2"])
            #expect(try sync(["2"]) == MergeCounts(updated: 1, deleted: 2, unchanged: 2))
            #expect(try fixture.rows("SELECT c.id, b.id, a.id FROM c, b, a") == ["c|b2|a2"])
        }
    }
}
