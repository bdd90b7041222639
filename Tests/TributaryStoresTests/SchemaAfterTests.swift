import FeedModel
import Foundation
import PostgresClient
import Synchronization
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// The user's own SQL that follows the mappings' tables: `schema_after`.
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
