import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import PostgresStore
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// The end of a source: its rows go, and everybody else's stay.
@Suite(.onEachStore) struct PurgeTests {
    private static func source(_ name: String, _ options: String = "", path: String = "/a") -> String {
        """
        [[sources.\(name).requests]]
        url = "URL\(path)"
        \(options)
        tables = [{ table = "thing", element = "item", key = ["id"], columns = { id = "@id", name = "name" } }]

        """
    }

    private func purge(
        _ fixture: EngineFixture, _ sources: String, _ name: String = "s", isTrial: Bool = false
    ) throws -> PurgeReport {
        let configuration = try fixture.configuration(sources)
        let store = try #require(try configuration.openExistingStore(isWritten: true))
        defer { try? store.close() }
        let claim = try #require(try store.claim(name))
        defer { claim.unlock() }
        let purge = try configuration.purge(of: name, in: store, parsers: EngineFixture.registry, now: Date())
        return try store.purge(purge, isTrial: isTrial)
    }

    @Test func onlyWhatTheSourceAloneHasWrittenGoes() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1", "2", "3"]), etag: "\"1\"")
            fixture.server.document("/b", EngineFixture.items(["3", "4"], name: "other"), etag: "\"1\"")
            let both = Self.source("s") + Self.source("t", path: "/b")
            try await fixture.sync(Self.source("s"))
            try await fixture.sync(both, ["t"])
            let before = try fixture.dump()
            // The source need not be declared any more.
            let others = Self.source("t", path: "/b")
            let trial = try purge(fixture, others, isTrial: true)
            #expect(trial.run.counts.deleted == 2)
            #expect(try fixture.dump() == before)
            #expect(try fixture.rows("SELECT count(*) FROM tributary_source WHERE source = 's'") == ["1"])
            let report = try purge(fixture, others)
            let table = try #require(report.tables.first)
            #expect(table.name == "thing" && table.deleted == 2 && table.shared == 1 && table.unknown == 0)
            #expect(try fixture.rows("SELECT id FROM thing ORDER BY id") == ["3", "4"])
            for own in ["tributary_source", "tributary_request"] {
                #expect(try fixture.rows("SELECT count(*) FROM \(own) WHERE source = 's'") == ["0"])
            }
            #expect(
                try fixture.rows("SELECT source, outcome, deleted FROM tributary_run WHERE kind = 'purge'")
                    == ["s|committed|2"])
            let changelog = "SELECT c.key FROM tributary_change c JOIN tributary_run r ON r.id = c.run"
            #expect(
                try fixture.rows(changelog + " WHERE r.kind = 'purge' AND c.operation = 'delete' ORDER BY c.key") == [
                    "1", "2",
                ])
            // Tail, hooks and the page read it so.
            let store = try #require(try fixture.configuration(others).openExistingStore())
            let numbers = try fixture.rows("SELECT id FROM tributary_run WHERE kind = 'purge'").compactMap(Int64.init)
            #expect(numbers.count == 1)
            let run = try #require(try store.read { try $0.changelog.run(numbers.first ?? 0) })
            #expect(run.report.kind == .purge)
            #expect(
                try store.read { try $0.changelog.changes(of: run, after: 0, limit: 9) }.map(\.operation) == [
                    "delete", "delete",
                ])
            try store.close()
            // Whoever writes the table sends everything again, once.
            #expect(try await fixture.sync(others).first?.outcome == .committed)
            #expect(try await fixture.sync(others).first?.outcome == .unchanged)
            // Declared again, it begins anew.
            #expect(try await fixture.sync(both, ["s"]).first?.counts.inserted == 2)
        }
    }

    /// A renamed source is another one. Its first run finds the rows of the former name, and writes none.
    @Test(arguments: ["mirror", "upsert"]) func theRowsOfARenamedSource(sync: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1", "2"]), etag: "\"1\"")
            let (former, renamed) = (Self.source("s", "sync = \"\(sync)\""), Self.source("t", "sync = \"\(sync)\""))
            try await fixture.sync(former)
            #expect(try await fixture.sync(renamed).first?.counts.unchanged == 2)
            let report = try purge(fixture, renamed)
            let table = try #require(report.tables.first)
            guard sync == "upsert" else {
                #expect(table.deleted == 0 && table.shared == 2 && report.refetched.isEmpty)
                #expect(try fixture.rows("SELECT id FROM thing ORDER BY id") == ["1", "2"])
                return
            }
            #expect(table.deleted == 2 && report.refetched == ["t"])
            // It is due, and fetched in full.
            #expect(try fixture.rows("SELECT count(*) FROM tributary_source WHERE next_due IS NULL") == ["1"])
            #expect(try await fixture.sync(renamed).first?.counts.inserted == 2)
        }
    }

    @Test func theRecordsThatItsRunsLeftOutAreDeleted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<items><item id='1'/><item name='n'/></items>")
            func skipping(_ name: String) -> String {
                Self.source(name).replacing("id = \"@id\"", with: "id = { path = \"@id\", on_error = \"skip\" }")
            }
            try await fixture.sync(skipping("s") + skipping("t"))
            let sources = "SELECT source FROM tributary_rejected ORDER BY source"
            #expect(try fixture.rows(sources) == ["s", "t"])
            _ = try purge(fixture, skipping("t"))
            #expect(try fixture.rows(sources) == ["t"])
        }
    }

    /// Another source's commit is under way, whose part of the changelog cannot be seen before it ends.
    @Test func whatIsCommittedBeforeTheTablesAreLockedCounts() async throws {
        guard StoreKind.current == .postgres else { return }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1", "2"]))
            try await fixture.sync(Self.source("s"))
            let other = try PostgresConnection(try #require(fixture.store.url))
            defer { other.close() }
            try other.execute("BEGIN")
            try other.executeScript(
                """
                UPDATE thing SET name = 'other' WHERE id = '2';
                INSERT INTO tributary_run (id, source, polls, started_at, finished_at, outcome, inserted, updated, deleted,
                    unchanged, replaced, skipped, bytes, seconds, requests)
                VALUES (99, 't', 1, now(), now(), 'committed', 0, 1, 0, 0, 0, 0, 0, 0, '[]');
                INSERT INTO tributary_change (run, "table", key, operation) VALUES (99, 'thing', '2', 'update')
                """)
            let purging = Task.detached { try purge(fixture, Self.source("t")) }
            while try fixture.rows(
                "SELECT count(*) FROM pg_locks WHERE relation = 'thing'::regclass AND NOT granted") == ["0"]
            { try await Task.sleep(for: .milliseconds(5)) }
            try other.execute("COMMIT")
            let report = try await purging.value
            #expect(report.tables.first?.deleted == 1 && report.tables.first?.shared == 1)
            #expect(try fixture.rows("SELECT id, name FROM thing") == ["2|other"])
        }
    }

    private static func product(_ name: String, key: String, _ value: String) -> String {
        """
        [[sources.\(name).requests]]
        url = "URL/\(name)"
        [[sources.\(name).requests.tables]]
        table = "product"
        element = "i"
        key = ["\(key)"]
        columns = { \(key == "sku" ? "sku = \"@sku\", " : "")ean = "@ean", \(value) = "@v" }

        """
    }

    /// The changelog names a row by the key of the source that writes it.
    @Test(arguments: ["declared", "undeclared", "declared by another key since"])
    func rowsThatAnotherSourceNamesByAnotherKeyStay(stock: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS product (
                        id INTEGER PRIMARY KEY, sku TEXT UNIQUE, ean TEXT UNIQUE, price TEXT, stock TEXT);
                    """)
            fixture.server.document(
                "/prices", "<r><i sku='s1' ean='111' v='9'/><i sku='s3' ean='333' v='8'/></r>")
            fixture.server.document("/stocks", "<r><i ean='111' v='5'/><i ean='222' v='7'/></r>")
            let prices = Self.product("prices", key: "sku", "price")
            let stocks = Self.product("stocks", key: "ean", "stock")
            try await fixture.sync(prices)
            try await fixture.sync(prices + stocks, ["stocks"])
            let now =
                switch stock {
                case "declared": prices + stocks
                case "undeclared": prices
                default: prices + Self.product("stocks", key: "sku", "stock")
                }
            let report = try purge(fixture, now, "prices")
            let table = try #require(report.tables.first)
            #expect(table.deleted == 1 && table.shared == 1 && table.unknown == 0)
            #expect(try fixture.rows("SELECT ean, stock FROM product ORDER BY ean") == ["111|5", "222|7"])
        }
    }

    @Test func aMirrorsScopeTellsWhatTheChangelogHasForgotten() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1", "2"]))
            fixture.server.document("/b", EngineFixture.items(["3"]))
            let scoped = Self.source("s", "sync = \"mirror\"\nscope = { shop = \"a\" }")
            let other = Self.source("t", "sync = \"mirror\"\nscope = { shop = \"b\" }", path: "/b")
            let third = Self.source("u", "", path: "/a").replacing("thing", with: "plain")
            try await fixture.sync(scoped + other + third)
            try fixture.store.execute("DELETE FROM tributary_change")
            let report = try purge(fixture, other + third)
            #expect(report.run.counts.deleted == 2)
            #expect(try fixture.rows("SELECT id FROM thing") == ["3"])
            // What is not mirrored is left, and told.
            let left = try purge(fixture, other, "u")
            #expect(
                left.tables == [
                    {
                        var table = PurgedTable(name: "plain"); table.unknown = 2; return table
                    }()
                ])
        }
    }

    @Test(arguments: ["ON DELETE CASCADE", ""]) func rowsThatOthersReferToAreNamed(action: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS parent (id TEXT PRIMARY KEY);
                    CREATE TABLE IF NOT EXISTS child (id TEXT PRIMARY KEY, parent TEXT REFERENCES parent(id) ON DELETE CASCADE);
                    CREATE TABLE IF NOT EXISTS guest (id TEXT PRIMARY KEY, parent TEXT REFERENCES parent(id) \(action));
                    """)
            let sources = """
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "parent"
                element = "p"
                key = ["id"]
                columns = { id = "@id" }
                [[sources.s.requests.tables]]
                table = "child"
                element = "c"
                key = ["id"]
                columns = { id = "@id", parent = "../@id" }

                """
            fixture.server.document("/a", "<r><p id='1'><c id='1'/><c id='2'/></p><p id='2'/></r>")
            try await fixture.sync(sources)
            try fixture.store.execute("INSERT INTO guest VALUES ('g', '1')")
            let before = try fixture.dump()
            var problem = ""
            do { _ = try purge(fixture, sources) } catch { problem = "\(error)" }
            #expect(
                problem.contains(
                    "1 rows of table 'guest', which are not only s's, refer by (parent) to rows of table 'parent'"),
                "\(problem)")
            #expect(try fixture.dump() == before)
            try fixture.store.execute("DELETE FROM guest")
            let report = try purge(fixture, sources)
            #expect(report.run.counts.deleted == 4 && report.tables.allSatisfy { $0.deleted == 2 })
            #expect(try fixture.dump().isEmpty)
        }
    }

    @Test func keysOfSeveralColumnsAndMadeOnesAreKnown() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = """
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "orders"
                element = "o"
                key = ["shop", "nr"]
                columns = { shop = "@shop", nr = { path = "@nr", type = "integer" } }
                [[sources.s.requests.tables]]
                table = "line"
                element = "l"
                key = ["parent", "pos"]
                columns = { parent = { parent = "orders" }, pos = { ordinal = true }, text = "." }

                """
            fixture.server.document(
                "/a", "<r><o shop='a' nr='1'><l>x</l><l>y</l></o><o shop='b' nr='1'><l>z</l></o></r>")
            try await fixture.sync(sources)
            try fixture.store.execute("INSERT INTO orders (shop, nr) VALUES ('mine', 7)")
            do {
                let report = try purge(fixture, sources, isTrial: true)
                #expect(report.run.counts.deleted == 5 && report.tables.map(\.unknown).reduce(0, +) == 1)
            }
            let undeclared = try purge(fixture, Self.source("other"))
            #expect(undeclared.run.counts.deleted == 5)
            #expect(try fixture.rows("SELECT shop FROM orders") == ["mine"])
        }
    }
}
