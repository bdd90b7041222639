import Foundation
import PostgresStore
import TestStores
import TestSupport
import Testing

/// A daemon on a server where another session keeps a table locked, as VACUUM FULL and ALTER TABLE do.
@Suite(.onEachStore) struct LockedTableTests {
    private static let locked = (0..<12).map { "l\($0)" }
    private static let others = (0..<3).map { "o\($0)" }

    private func declaration(_ source: String, table: String, url: String) -> String {
        """
        [sources.\(source)]
        [[sources.\(source).requests]]
        url = "\(url)/\(source)"
        scope = { source = "\(source)" }
        tables = [{ table = "\(table)", element = "item", key = ["source", "id"], sync = "mirror", \
        columns = { source = { value = "\(source)" }, id = "@id", title = "title" } }]

        """
    }

    @Test func aLockedTableDelaysItsOwnSourcesAlone() async throws {
        // A store in a file has no locks of tables.
        guard StoreKind.current == .postgres else { return }
        try await withStubServer { (server) async throws in
            let feeds = PageFixture.Feeds()
            for source in Self.locked + Self.others {
                feeds.set(source, PageFixture.items(1...3))
                server.route("/\(source)") { _ in StubServer.response(200, feeds[source].body) }
            }
            let sources =
                Self.locked.map { declaration($0, table: "item", url: server.url) }
                + Self.others.map { declaration($0, table: "table_\($0)", url: server.url) }
            try await PageFixture.with(
                daemon: "concurrency = 4\nper_host = 64", more: sources.joined()
            ) { (fixture) async throws in
                try await fixture.wait("all have run") {
                    try fixture.store.rows("SELECT 1 FROM tributary_source WHERE last_commit IS NOT NULL").count == 17
                }
                let holder = try PostgresConnection(#require(fixture.store.url))
                try holder.executeScript("BEGIN; LOCK TABLE item IN ACCESS EXCLUSIVE MODE")
                for source in Self.locked + Self.others { feeds.set(source, PageFixture.items(1...3, title: "new")) }
                #expect(try await fixture.page.post("/api/refresh").status == 200)
                for source in Self.others {
                    try await fixture.wait("\(source) has committed") {
                        try fixture.store.rows("SELECT 1 FROM table_\(source) WHERE title = 'new'").count == 3
                    }
                }
                for path in ["/healthz", "/", "/api/status"] {
                    #expect(try await fixture.page.get(path).status == 200, "\(path)")
                }
                let age = "SELECT 1 FROM tributary_daemon WHERE seen_at > clock_timestamp() - interval '15 s'"
                #expect(try fixture.store.rows(age).count == 1)
                #expect(holder.transactionStatus == .inTransaction)
                try holder.execute("ROLLBACK")
                try await fixture.wait("the locked table is written") {
                    try fixture.store.rows("SELECT 1 FROM item WHERE title = 'new'").count == 36
                }
            }
        }
    }
}
