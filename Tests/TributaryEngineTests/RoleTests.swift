import FeedConfiguration
import FeedModel
import Foundation
import PostgresServer
import TestEngine
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// The role that Documentation/PostgreSQL.md recommends for a database that is somebody else's.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct RoleTests {
    private static let sources = """
        [sources.s]
        keep_history = true
        [[sources.s.requests]]
        url = "URL/a"
        sync = "mirror"
        max_deleted = "100%"
        [[sources.s.requests.tables]]
        table = "product"
        element = "item"
        key = ["id"]
        columns = { id = "@id", name = "@name" }
        """

    /// - Parameter body: is given a database in which the role has a schema of its own, and may write `public.product`.
    private func withRole(_ body: (DatabaseFixture) async throws -> Void) async throws {
        try await DatabaseFixture.with(own: PostgresServer.Options()) { (fixture) async throws in
            try fixture.execute(
                """
                CREATE TABLE product (id text PRIMARY KEY, name text);
                REVOKE CREATE ON SCHEMA public FROM PUBLIC;
                CREATE ROLE tributary LOGIN;
                CREATE SCHEMA tributary AUTHORIZATION tributary;
                ALTER ROLE tributary IN DATABASE \(fixture.database.name) SET search_path = tributary, public;
                GRANT USAGE ON SCHEMA public TO tributary;
                GRANT SELECT, INSERT, UPDATE, DELETE ON public.product TO tributary;
                GRANT TEMPORARY ON DATABASE \(fixture.database.name) TO tributary;
                """)
            var fixture = fixture
            fixture.url = fixture.database.server.connectionString(database: fixture.database.name, user: "tributary")
            try await body(fixture)
        }
    }

    private func sync(_ fixture: DatabaseFixture, _ names: [String]) async throws {
        let items = names.map { "<item id='\($0)' name='n'/>" }.joined()
        fixture.server.document("/a", "<items>\(items)</items>")
        let service = try fixture.service(Self.sources)
        let report = try await service.sync(mode: .force).first
        #expect(report?.outcome == .committed && report?.error == nil, "\(report?.error ?? "")")
        try service.close()
    }

    private func undo(_ fixture: DatabaseFixture) async throws {
        let service = try fixture.service(Self.sources)
        _ = try await UndoRun(
            "s", to: .lastChange, in: service.store, declaration: nil, parsers: EngineFixture.registry
        ).run()
        try service.close()
    }

    @Test func historyIsInTheRolesOwnSchema() async throws {
        try await withRole { (fixture) async throws in
            try await sync(fixture, ["a", "b"])
            try await sync(fixture, ["b", "c"])
            #expect(try fixture.rows("SELECT count(*) FROM tributary.tributary_history_product") == ["4"])
            #expect(try fixture.rows("SELECT to_regclass('public.tributary_history_product')") == ["NULL"])
            try await undo(fixture)
            #expect(try fixture.rows("SELECT id FROM public.product ORDER BY id") == ["a", "b"])
        }
    }

    /// The error, and `check --store`, name the role, the table and the statement that an administrator runs.
    @Test func aMissingRightIsNamedWithItsGrant() async throws {
        try await withRole { (fixture) async throws in
            let sources = Self.sources.replacing(
                "sync = \"mirror\"\nmax_deleted", with: "sync = \"upsert\"\nmax_deleted")
            fixture.server.document("/a", "<items><item id='a' name='n'/></items>")
            let opened = try fixture.service(sources)
            func sync() async throws -> RunReport? {
                let service = try fixture.service(sources)
                let report = try await service.sync(mode: .force).first
                try service.close()
                return report
            }
            func missing(_ sources: String) throws -> [String] {
                let text = "[store]\nurl = \"\(fixture.url)\"\n" + sources.replacing("URL", with: fixture.server.url)
                let configuration = try TributaryConfiguration(
                    file: fixture.folder.write(text, to: "rights.toml"), parsers: EngineFixture.registry,
                    environment: [:])
                return try configuration.sources[0].requests[0].missingRights(in: opened.store).map {
                    "\($0.place.path): \($0.finding)"
                }
            }
            #expect(try missing(Self.sources) == [])
            try fixture.execute("REVOKE UPDATE, DELETE ON public.product FROM tributary")
            let lock = "the role 'tributary' may not lock public.product: GRANT UPDATE ON public.product TO tributary"
            let locking = try await sync()
            #expect(
                locking?.outcome == .discarded && locking?.error?.hasSuffix(lock) == true, "\(locking?.error ?? "")")
            let both =
                "sources.s.requests[1].tables[1]: the role 'tributary' has no right to UPDATE, DELETE on public.product: "
                + "GRANT UPDATE, DELETE ON public.product TO tributary"
            #expect(try missing(Self.sources) == [both])
            try fixture.execute("GRANT UPDATE ON public.product TO tributary")
            #expect(try missing(sources) == [])
            let committed = try await sync()
            #expect(committed?.outcome == .committed, "\(committed?.error ?? "")")
            let error = await #expect(throws: StoreError.self) { try await undo(fixture) }
            let deletion =
                "the role 'tributary' has no right to DELETE on public.product: GRANT DELETE ON public.product TO tributary"
            #expect(error?.message.hasSuffix(deletion) == true, "\(error?.message ?? "")")
            try opened.close()
        }
    }
}
