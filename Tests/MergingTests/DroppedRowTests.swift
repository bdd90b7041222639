import FeedModel
import FeedStaging
import TestStores
import Testing

/// Rows that a user's trigger drops: the counts and the changelog have the rows that the table has.
@Suite(.onEachStore) struct DroppedRowTests {
    private func sync(_ fixture: StackFixture, _ rows: [(id: String, code: String)]) throws -> MergeCounts {
        try fixture.commit(MergeRule(sync: .mirror)) { context in
            for row in rows { try context.insert(into: "t", ["id": row.id, "code": row.code]) }
        }
    }

    private func trigger(_ event: String, _ condition: String) -> String {
        StoreKind.by(
            sqlite:
                "CREATE TRIGGER drop_\(event) BEFORE \(event) ON t WHEN \(condition) BEGIN SELECT RAISE(IGNORE); END",
            postgres: """
                CREATE FUNCTION drop_\(event)() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                CREATE TRIGGER drop_\(event) BEFORE \(event) ON t FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION drop_\(event)()
                """)
    }

    @Test func rowsThatATriggerDropsAreNotLogged() async throws {
        try await StackFixture.with("CREATE TABLE t (id text PRIMARY KEY, code text)") { (fixture) async throws in
            _ = try sync(fixture, [("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")])
            try fixture.execute(trigger("INSERT", "NEW.id = 'x'"))
            try fixture.execute(trigger("UPDATE", "OLD.id = 'b'"))
            try fixture.execute(trigger("DELETE", "OLD.id = 'c'"))
            let counts = try sync(fixture, [("a", "2"), ("b", "2"), ("x", "1"), ("y", "1")])
            #expect(counts.inserted == 1 && counts.updated == 1 && counts.deleted == 1, "\(counts)")
            #expect(try fixture.changes() == ["t|a|update", "t|d|delete", "t|y|insert"])
            #expect(try fixture.rows("SELECT id, code FROM t ORDER BY id") == ["a|2", "b|1", "c|1", "y|1"])
        }
    }

    /// A name, a comment or a default with the words of a conflict clause is none. Neither is ABORT, which is usual.
    @Test(arguments: [
        "t (id text PRIMARY KEY, code text, conflict text)",
        "t (id text PRIMARY KEY, code text /* UNIQUE ON CONFLICT REPLACE */)",
        "t (id text PRIMARY KEY, code text, \"on conflict\" text DEFAULT 'ON CONFLICT IGNORE')",
        "t (id text PRIMARY KEY ON CONFLICT ABORT, code text)",
    ])
    func aTableWithoutAConflictClauseKeepsRows(table: String) async throws {
        guard StoreKind.current == .sqlite else { return }
        try await StackFixture.with("CREATE TABLE \(table)") { (fixture) async throws in
            _ = try sync(fixture, [("a", "1"), ("b", "1")])
            try fixture.execute(trigger("UPDATE", "OLD.id = 'b'"))
            let counts = try sync(fixture, [("a", "2"), ("b", "2")])
            #expect(counts.updated == 1)
            #expect(try fixture.changes() == ["t|a|update"])
        }
    }
}
