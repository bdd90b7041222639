import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine

/// What somebody else does to the store's tables: a 304 must not hide that rows are gone.
@Suite struct LostRowTests {
    private let document = "<f><r id='1' name='A'/><r id='2' name='B'/></f>"

    private func source(_ name: String = "s", columns: String = "", sync: String = "mirror") -> String {
        """
        [[sources.\(name).requests]]
        url = "URL/\(name)"
        tables = [{ table = "r", element = "r", key = ["id"], sync = "\(sync)", columns = { id = "@id", \
        name = "@name"\(columns) } }]

        """
    }

    /// Makes the mapping's table anew, as it was.
    private func recreate(_ fixture: EngineFixture) throws {
        let sql =
            switch StoreKind.current {
            case .sqlite: try #require(try fixture.rows("SELECT sql FROM sqlite_schema WHERE name = 'r'").first)
            case .postgres: "CREATE TABLE r (id text PRIMARY KEY, name text)"
            }
        try fixture.store.execute("DROP TABLE r; " + sql)
    }

    @Test(.onEachStore, arguments: [true, false])
    func aTableThatWasDroppedIsFilledAgain(hasValidators: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", document, etag: hasValidators ? "\"1\"" : nil)
            try await fixture.sync(source())
            #expect(try await fixture.sync(source()).first?.outcome == .unchanged)
            try fixture.store.execute("DROP TABLE r")
            #expect(try await fixture.sync(source()).first?.counts.inserted == 2)
            #expect(try await fixture.sync(source()).first?.outcome == .unchanged)
            #expect(try fixture.rows("SELECT * FROM r ORDER BY id") == ["1|A", "2|B"])
        }
    }

    /// One process: what it knows of the table from its former runs proves nothing.
    @Test(.onEachStore) func aTableThatWasEmptiedWhileTheDaemonRunsIsFilledAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", document, etag: "\"1\"")
            let service = try fixture.service(source(), clock: SystemClock())
            let declaration = try #require(service.configuration[source: "s"])
            func run() async -> RunReport { await StackRun(declaration, in: service.environment, mode: .force).run() }
            #expect(await run().counts.inserted == 2)
            #expect(await run().outcome == .unchanged)
            #expect(await run().outcome == .unchanged)
            try fixture.store.execute("DELETE FROM r")
            #expect(await run().counts.inserted == 2)
            #expect(await run().outcome == .unchanged)
            // The row that was seen last is not the only one.
            try fixture.store.execute("DELETE FROM r WHERE id = '1'")
            #expect(await run().outcome == .unchanged)
            try await service.environment.http.shutdown()
            try service.close()
        }
    }

    @Test(.onEachStore) func aTableThatWasMadeAnewIsFilledAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", document, etag: "\"1\"")
            try await fixture.sync(source())
            try recreate(fixture)
            #expect(try await fixture.sync(source()).first?.counts.inserted == 2)
        }
    }

    /// One source fills the table that was made anew; the other must see that its own rows are not among those.
    @Test(.onEachStore, arguments: [true, false])
    func aTableThatWasMadeAnewIsFilledByAllItsSources(isConditional: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<f><r id='1' name='A'/></f>", etag: "\"1\"")
            fixture.server.document("/b", "<f><r id='2' name='B'/></f>", etag: "\"1\"")
            let sources = source("a", sync: "upsert") + source("b", sync: "upsert")
            try await fixture.sync(sources, ["a"])
            try await fixture.sync(sources, ["b"])
            try recreate(fixture)
            try await fixture.sync(sources, ["a"], mode: isConditional ? .force : .full)
            try await fixture.sync(sources, ["b"])
            #expect(try fixture.rows("SELECT id FROM r ORDER BY id") == ["1", "2"])
        }
    }

    @Test(.onEachStore) func aColumnThatWasDroppedIsFilledAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", document, etag: "\"1\"")
            let source = self.source(columns: ", more = \"@name\"")
            try await fixture.sync(source)
            try fixture.store.execute("ALTER TABLE r DROP COLUMN name")
            #expect(try await fixture.sync(source).first?.counts.updated == 2)
            #expect(try fixture.rows("SELECT name, more FROM r ORDER BY id") == ["A|A", "B|B"])
            #expect(try await fixture.sync(source).first?.outcome == .unchanged)
        }
    }

    /// What takes no row does not make requests unconditional.
    @Test(.onEachStore) func aSchemaThatOnlyGrowsAsksNobodyAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<f><r id='1' name='A'/></f>", etag: "\"1\"")
            fixture.server.document("/b", "<f><r id='2' name='B'/></f>", etag: "\"1\"")
            let sources = source("a", sync: "upsert") + source("b", columns: ", more = \"@more\"", sync: "upsert")
            try await fixture.sync(sources, ["a"])
            try await fixture.sync(sources, ["b"])
            try fixture.store.execute(
                "CREATE INDEX r_name ON r (name); CREATE TABLE other (id TEXT); ALTER TABLE r ADD COLUMN note TEXT")
            #expect(try await fixture.sync(sources).map(\.outcome) == [.unchanged, .unchanged])
        }
    }

    @Test func anEmptyFeedStaysUnchanged() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", "<f/>", etag: "\"1\"")
            let source = self.source().replacingOccurrences(of: "tables", with: "allow_empty = true\ntables")
            try await fixture.sync(source)
            #expect(try await fixture.sync(source).first?.outcome == .unchanged)
        }
    }

    /// A table that the schema file makes again before the run looks.
    @Test(.onEachStore) func aTableOfTheSchemaFileIsFilledAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
            try await fixture.sync(EngineFixture.request("/a"))
            try fixture.store.execute("DROP TABLE item")
            #expect(try await fixture.sync(EngineFixture.request("/a")).first?.counts.inserted == 1)
        }
    }

    /// A store that an earlier version left does not say what its rows stand in.
    @Test(.onEachStore) func aStoreOfAnEarlierVersionIsNotFetchedAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", document, etag: "\"1\"")
            try await fixture.sync(source())
            try fixture.store.execute("UPDATE tributary_request SET schema = NULL")
            #expect(try await fixture.sync(source()).first?.outcome == .unchanged)
            try fixture.store.execute("DROP TABLE r")
            #expect(try await fixture.sync(source()).first?.counts.inserted == 2)
        }
    }

    @Test(.onEachStore) func anotherEncryptionKeyEncryptsAnew() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", document, etag: "\"1\"")
            func sources(_ key: String) -> String {
                "encryption_key = \"\(String(repeating: key, count: 32))\"\n"
                    + source().replacingOccurrences(of: "\"@name\"", with: "{ path = \"@name\", encrypted = true }")
            }
            try await fixture.sync(sources("0a"))
            #expect(try await fixture.sync(sources("0a")).first?.outcome == .unchanged)
            #expect(try await fixture.sync(sources("0b")).first?.counts.updated == 2)
            #expect(try await fixture.sync(sources("0b")).first?.outcome == .unchanged)
        }
    }
}
