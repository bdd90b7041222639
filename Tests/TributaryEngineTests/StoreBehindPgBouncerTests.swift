import FeedModel
import FeedStores
import PostgresServer
import TestEngine
import TestSupport
import Testing

@testable import TributaryEngine

/// A store that is reached through pgbouncer in transaction mode, where each transaction may have another session.
@Suite(.enabled(if: PostgresServer.isAvailable && PgBouncer.isAvailable)) struct StoreBehindPgBouncerTests {
    private func with(poolSize: Int, _ body: (DatabaseFixture) async throws -> Void) async throws {
        try await DatabaseFixture.with { (fixture) async throws in
            try await withPgBouncer(fixture.database.server, poolSize: poolSize) { (bouncer) async throws in
                var fixture = fixture
                fixture.url = bouncer.connectionString(database: fixture.database.name)
                try await body(fixture)
            }
        }
    }

    /// More sources commit at a time than there are sessions.
    @Test func stacksAreCommittedWhole() async throws {
        try await with(poolSize: 2) { (fixture) async throws in
            let names = (0..<12).map { "s\($0)" }
            let sources = names.map { name in
                """
                [[sources.\(name).requests]]
                url = "URL/\(name)"
                scope = { source = "\(name)" }
                tables = [{ table = "entry", element = "e", key = ["source", "id"], sync = "mirror", \
                columns = { id = "@id", version = "@v" } }]

                """
            }.joined()
            for version in ["a", "b"] {
                for name in names {
                    let entries = (0..<50).map { "<e id='\($0)' v='\(version)'/>" }.joined()
                    fixture.server.document("/\(name)", "<es>\(entries)</es>")
                }
                let service = try fixture.service(sources)
                let reports = try await service.sync(mode: .force)
                try service.close()
                #expect(reports.count == 12 && reports.allSatisfy { $0.outcome == .committed }, "\(reports)")
                let rows = try fixture.rows(
                    "SELECT count(*), count(DISTINCT source), min(version), max(version) FROM entry")
                #expect(rows == ["600|12|\(version)|\(version)"])
            }
            let runs = try fixture.rows("SELECT count(*), count(DISTINCT (source, started_at)) FROM tributary_run")
            #expect(runs == ["24|24"])
            #expect(try fixture.rows("SELECT 1 FROM tributary_source WHERE holder IS NOT NULL").isEmpty)
        }
    }

    /// pgbouncer ends the client's connection when the server's is gone.
    @Test func aCommitIsRepeatedWhenItsSessionEnds() async throws {
        try await with(poolSize: 1) { (fixture) async throws in
            try await fixture.withDaemon { (daemon) async throws in
                try fixture.execute(
                    """
                    CREATE SEQUENCE calls;
                    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        IF nextval('calls') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
                        RETURN NULL;
                    END $$;
                    CREATE CONSTRAINT TRIGGER fail AFTER UPDATE ON company DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION fail();
                    """)
                let report = try await daemon.run("b")
                #expect(report.outcome == .committed && report.error == nil, "\(report)")
                try fixture.expectStack("b", commits: 2)
                #expect(try fixture.rows("SELECT last_value FROM calls") == ["6"])
            }
        }
    }

    @Test func aLeaseKeepsOthersOut() async throws {
        try await with(poolSize: 1) { (fixture) async throws in
            let (one, other) = (try fixture.service(), try fixture.service())
            let claim = try #require(try one.store.claim("s"))
            #expect(try other.store.claim("s") == nil)
            claim.unlock()
            let next = try #require(try other.store.claim("s"))
            next.unlock()
            try one.close()
            try other.close()
        }
    }
}
