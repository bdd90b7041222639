import FeedConfiguration
import FeedModel
import Foundation
import PostgresStore
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// The user's own SQL that precedes the mappings' tables, `schema`, and that follows them, `schema_after`.
@Suite(.onEachStore) struct SchemaAfterTests {
    private static let sources = """
        schema_after = "after.sql"
        [[sources.s.requests]]
        url = "URL/a"
        [[sources.s.requests.tables]]
        table = "place"
        element = "p"
        key = ["id"]
        columns = { id = "@id" }

        """

    /// Each time that it runs leaves a row.
    private static let counting = "CREATE TABLE IF NOT EXISTS ran (id TEXT); INSERT INTO ran VALUES ('x');"

    @Test func itRunsWhenItsTextHasChanged() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<r><p id='1'/></r>")
            func runs(_ sql: String) async throws -> [String] {
                try fixture.folder.write(sql, to: "after.sql")
                #expect(try await fixture.sync(Self.sources).first?.error == nil)
                return try fixture.rows("SELECT count(*) FROM ran")
            }
            #expect(try await runs(Self.counting) == ["1"])
            #expect(try await runs(Self.counting) == ["1"])
            #expect(try await runs(Self.counting + " ") == ["2"])
            #expect(try await runs(Self.counting) == ["3"])
            // What it made for the table went with the table.
            try fixture.store.execute("DROP TABLE place")
            #expect(try await runs(Self.counting) == ["4"])
            #expect(try await runs(Self.counting) == ["4"])
            try fixture.store.execute("DELETE FROM tributary_schema")
            #expect(try await runs(Self.counting) == ["5"])
        }
    }

    /// What fails is not remembered.
    @Test func aMistakeIsTriedAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<r><p id='1'/></r>")
            try fixture.folder.write("CREATE VIEW v AS SELECT id FROM missing; SELECT * FROM v", to: "after.sql")
            for _ in 0..<2 {
                await #expect(throws: (any Error).self) { try await fixture.sync(Self.sources) }
            }
            try fixture.store.execute("CREATE TABLE missing (id TEXT)")
            #expect(try await fixture.sync(Self.sources).first?.error == nil)
            #expect(try fixture.rows("SELECT id FROM v").isEmpty)
        }
    }

    @Test func aSchemaMayRelyOnTheTablesOfMappings() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let schema = StoreKind.by(
                sqlite: """
                    CREATE VIEW IF NOT EXISTS names AS SELECT id, upper(id) AS name FROM place;
                    CREATE TABLE IF NOT EXISTS log (id TEXT);
                    CREATE TRIGGER IF NOT EXISTS logged AFTER INSERT ON place BEGIN INSERT INTO log VALUES (new.id); END;
                    """,
                postgres: """
                    CREATE OR REPLACE VIEW names AS SELECT id, upper(id) AS name FROM place;
                    CREATE TABLE IF NOT EXISTS log (id text);
                    CREATE OR REPLACE FUNCTION put_in_log() RETURNS trigger LANGUAGE plpgsql AS
                        $$ BEGIN INSERT INTO log VALUES (new.id); RETURN new; END $$;
                    CREATE OR REPLACE TRIGGER logged AFTER INSERT ON place FOR EACH ROW EXECUTE FUNCTION put_in_log();
                    """)
            try fixture.folder.write(schema, to: "after.sql")
            fixture.server.document("/a", "<r><p id='x'/></r>")
            for _ in 0..<2 { #expect(try await fixture.sync(Self.sources).first?.error == nil) }
            #expect(try fixture.rows("SELECT id, name FROM names") == ["x|X"])
            #expect(try fixture.rows("SELECT id FROM log") == ["x"])
        }
    }

    /// The start has made the tables and columns of every mapping for the SQL. They go with a first run that commits
    /// nothing, except those that the SQL uses, and those to which these refer.
    @Test func aDiscardedRunLeavesOnlyWhatItUses() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func sources(_ columns: String = "") -> String {
                Self.sources.replacing("id = \"@id\"", with: "id = \"@id\"" + columns) + """
                    [[sources.s.requests.tables]]
                    table = "part"
                    element = "p/q"
                    key = ["place", "n"]
                    columns = { place = { parent = "place" }, n = { ordinal = true } }

                    """
            }
            func columns() throws -> [String] {
                try fixture.rows(
                    StoreKind.by(
                        sqlite: """
                            SELECT lower(m.name || '.' || c.name) FROM sqlite_schema m, pragma_table_info(m.name) c
                            WHERE m.name IN ('place', 'part') ORDER BY 1
                            """,
                        postgres: """
                            SELECT table_name || '.' || column_name FROM information_schema.columns
                            WHERE table_schema = current_schema() AND table_name IN ('place', 'part') ORDER BY 1
                            """))
            }
            try fixture.folder.write("CREATE TABLE IF NOT EXISTS places (a int)", to: "after.sql")
            // Neither a record without its key nor a server without an answer leaves anything.
            fixture.server.document("/a", "<r><p/></r>")
            #expect(try await fixture.sync(sources()).first?.outcome == .discarded)
            #expect(try columns().isEmpty)
            fixture.server.route("/a") { _ in [StubServer.head(404, ["Content-Length": "0"]), .close] }
            #expect(try await fixture.sync(sources()).first?.outcome == .discarded)
            #expect(try columns().isEmpty)
            fixture.server.document("/a", "<r><p id='1'><q/></p></r>")
            #expect(try await fixture.sync(sources()).first?.error == nil)
            let all = ["part.n", "part.place", "place.id"]
            #expect(try columns() == all)
            let wider = sources(", x = \"@x\", z = { path = \"@z\", type = \"integer\" }")
            fixture.server.document("/a", "<r><p id='1' z='bad'/></r>")
            #expect(try await fixture.sync(wider).first?.outcome == .discarded)
            #expect(try columns() == all)
            // A table that the SQL uses stays, and so does the one to which it refers.
            try fixture.store.execute("DROP TABLE part; DROP TABLE place")
            try fixture.folder.write("CREATE INDEX IF NOT EXISTS mine ON Part (n)", to: "after.sql")
            #expect(try await fixture.sync(sources(", z = { path = \"@z\", type = \"integer\" }")).first?.error != nil)
            #expect(try columns() == ["part.n", "part.place", "place.id", "place.z"])
        }
    }

    /// What is left open is nobody's, and none of it stays. PostgreSQL runs a schema as one transaction, in which BEGIN does
    /// nothing.
    @Test(arguments: ["schema", "schema_after"])
    func aSchemaThatLeavesATransactionOpenIsRefused(key: String) async throws {
        guard StoreKind.current == .sqlite else { return }
        try await EngineFixture.with { (fixture) async throws in
            let sql = "CREATE TABLE IF NOT EXISTS company (id TEXT); BEGIN; CREATE TABLE IF NOT EXISTS q (a)"
            try fixture.folder.write(sql, to: key == "schema" ? "schema.sql" : "after.sql")
            let sources = (key == "schema" ? "" : "schema_after = \"after.sql\"\n") + EngineFixture.request("/a")
            let error = await #expect(throws: (any Error).self) { try await fixture.sync(sources) }
            #expect("\(String(describing: error))".contains("transaction"))
            #expect(try fixture.rows("SELECT name FROM sqlite_schema WHERE name = 'q'").isEmpty)
        }
    }

    @Test func aSchemaThatCannotFollowSaysWhy() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.folder.write("CREATE VIEW v AS SELECT missing FROM place; SELECT * FROM v", to: "after.sql")
            let error = await #expect(throws: ConfigurationError.self) { try await fixture.sync(Self.sources) }
            #expect(error?.description.contains("store.schema_after") == true, "\(String(describing: error))")
            let problem = StoreKind.by(sqlite: "no such column: missing", postgres: "column \"missing\" does not exist")
            #expect(error?.description.contains(problem) == true, "\(String(describing: error))")
        }
    }

    /// As the reference says: a view that is replaced keeps its grants, and nobody who reads it is waited for, or waits.
    @Test func readersDoNotWaitForIt() async throws {
        guard StoreKind.current == .postgres else { return }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<r><p id='1'/></r>")
            let url = try #require(fixture.store.url)
            try fixture.folder.write("CREATE OR REPLACE VIEW v AS SELECT id FROM place", to: "after.sql")
            #expect(try await fixture.sync(Self.sources).first?.error == nil)
            try fixture.store.execute("GRANT SELECT ON v TO PUBLIC")
            let reader = try PostgresConnection(url)
            defer { reader.close() }
            try reader.executeScript("BEGIN; SELECT * FROM v")
            // Unchanged, it asks for no lock at all.
            #expect(try await fixture.sync(Self.sources).first?.error == nil)
            try fixture.folder.write("CREATE OR REPLACE VIEW v AS SELECT id, 1 AS n FROM place", to: "after.sql")
            let hasEnded = Mutex(false)
            async let report = {
                defer { hasEnded.withLock { $0 = true } }
                return try await fixture.sync(Self.sources).first
            }()
            let other = try PostgresConnection(url)
            defer { other.close() }
            try other.execute("SET lock_timeout = '10s'")
            // As long as it is tried, others read on.
            var tried = 0
            while tried < 3, !hasEnded.withLock({ $0 }) {
                let waits =
                    try other.execute(
                        """
                        SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'v'::regclass
                        AND mode = 'AccessExclusiveLock'
                        """)[0].int64(0) ?? 0
                if waits > 0 {
                    try other.execute("SELECT * FROM v")
                    tried += 1
                }
                try await Task.sleep(for: .milliseconds(1))
            }
            #expect(tried > 0)
            try reader.execute("COMMIT")
            #expect(try await report?.error == nil)
            #expect(try fixture.rows("SELECT n FROM v") == ["1"])
            #expect(
                try fixture.rows(
                    "SELECT count(*) FROM information_schema.role_table_grants WHERE table_name = 'v' AND grantee = 'PUBLIC' AND table_schema = current_schema()"
                ) == ["1"])
        }
    }
}
