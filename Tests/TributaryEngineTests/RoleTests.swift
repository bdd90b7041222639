import FeedDeclarations
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

    /// Earlier versions made the history beside its table.
    @Test func aHistoryBesideItsTableGoesOn() async throws {
        try await withRole { (fixture) async throws in
            try await sync(fixture, ["a", "b"])
            try fixture.execute(
                "ALTER TABLE tributary.tributary_history_product SET SCHEMA public")
            try await sync(fixture, ["b", "c"])
            #expect(try fixture.rows("SELECT count(*) FROM public.tributary_history_product") == ["4"])
            for _ in 0..<2 { try await undo(fixture) }
            #expect(try fixture.rows("SELECT count(*) FROM public.product") == ["0"])
        }
    }
}
