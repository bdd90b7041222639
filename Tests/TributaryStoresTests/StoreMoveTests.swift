import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine
import TributaryStores

/// The way of everything that the sources own from one store to another.
@Suite struct StoreMoveTests {
    typealias Direction = StoreMoveFixture.Direction

    /// A source whose tables hold every type, and others with keys, without keys, with references and without.
    static let everything = """
        [sources.everything]
        cache = "1h"
        [[sources.everything.requests]]
        key = "values"
        url = "URL/values"
        sync = "mirror"
        [[sources.everything.requests.tables]]
        table = "everything"
        element = "v"
        key = ["a", "b"]
        [sources.everything.requests.tables.columns]
        a = "@a"
        b = { path = "@b", type = "integer" }
        text = "text"
        number = { path = "real", type = "real" }
        exact = { path = "decimal", type = "decimal" }
        truth = { path = "boolean", type = "boolean" }
        day = { path = "date", type = "date" }
        time = { path = "datetime", type = "datetime" }
        bytes = { path = "blob", type = "blob" }
        [[sources.everything.requests.tables]]
        table = "note"
        element = "note"
        [sources.everything.requests.tables.columns]
        words = "."
        [[sources.everything.requests]]
        key = "tree"
        url = "URL/tree"
        tables = [
            { table = "node", element = "n", key = ["id"], sync = "mirror", columns = { id = "@id", up = "@up", size = { path = "@size", type = "integer" } } },
            { table = "numbered", element = "n", key = ["name"], sync = "mirror", columns = { name = "@id" } },
        ]
        [sources.shop]
        [[sources.shop.requests]]
        url = "URL/companies"
        parser = "CompaniesParser"
        sync = "mirror"
        [[sources.shop.requests]]
        url = "URL/items"
        parser = "ItemsParser"
        sync = "mirror"
        """

    static let values = """
        <r><v a="1" b="1"><text>ä "quoted"\\ \t&#10;tab and 😀</text><real>0.1</real><decimal>1.50</decimal>
        <boolean>true</boolean><date>2026-11-21</date><datetime>2026-11-21T08:30:00.125+02:00</datetime>
        <blob>AAECAP8=</blob></v>
        <v a="1" b="9223372036854775807"><text/><real>-INF</real><decimal>-123456789012345678901234567890.000001</decimal>
        <boolean>0</boolean><date>0001-01-01</date><datetime>Sat, 21 Nov 2026 08:30:00 GMT</datetime><blob/></v>
        <v a="x" b="-1"/><v a="y" b="0"><real>3</real><decimal>0</decimal></v>
        <note>twice</note><note>twice</note><note>once</note></r>
        """
    /// Children come before their parents.
    static let tree = "<r><n id='a' up='c' size='1'/><n id='b' up='a'/><n id='c' up='c'/><n id='d'/></r>"

    private func serve(_ server: StubServer) {
        server.document("/values", Self.values, etag: "W/\"välues\"")
        server.document("/tree", Self.tree, etag: "\"tree\"")
        server.document("/companies", "<c><company id='c' name='C'/></c>")
        server.document(
            "/items", "<items><item id='1' company='c'><name>n</name><size>3</size></item></items>", etag: "\"i\"")
    }

    /// The queries whose rows must be the same in both stores.
    static let questions = [
        "SELECT a, b, text, number, exact, truth, day, time, bytes FROM everything ORDER BY b",
        "SELECT words FROM note ORDER BY words", "SELECT * FROM node ORDER BY id", "SELECT * FROM numbered ORDER BY id",
        "SELECT * FROM company", "SELECT * FROM item",
        """
        SELECT id, source, polls, started_at, finished_at, outcome, inserted, updated, deleted, unchanged, replaced,
            skipped, bytes, seconds, error FROM tributary_run ORDER BY id
        """,
        "SELECT id, run, \"table\", operation FROM tributary_change ORDER BY id",
        """
        SELECT source, outcome, last_run, last_commit, next_due, failures, error, note, gone, wait, asked_until, declared,
            attempts FROM tributary_source ORDER BY source
        """,
        """
        SELECT source, key, etag, last_modified, fingerprint, tables, sync, scope, digest, moved_to, moved_times
        FROM tributary_request ORDER BY source, key
        """,
        "SELECT * FROM tributary_host",
        "SELECT id, run, source, \"table\", reason, record FROM tributary_rejected ORDER BY id",
    ]

    static let rejected = """
        INSERT INTO tributary_rejected (run, source, "table", reason, record)
        VALUES (1, 'shop', 'item', 'no number', '{"size": "ä"}')
        """

    @Test(arguments: Direction.all) func everythingArrivesAndTheNextRunsAskWhetherItIsStillTrue(direction: Direction)
        async throws
    {
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            serve(fixture.server)
            let first = try await fixture.sync(Self.everything, of: fixture.old)
            #expect(first.map(\.outcome) == [.committed, .committed], "\(first)")
            fixture.server.document("/tree", Self.tree.replacing(" size='1'", with: " size='2'"), etag: "\"tree 2\"")
            try await fixture.sync(Self.everything, of: fixture.old)
            try fixture.old.store.execute(Self.rejected)
            let before = try Self.questions.map(fixture.old.rows)

            let report = try await fixture.move(Self.everything)
            #expect(report.sources == 2 && report.requests == 4 && report.runs == 4, "\(report)")
            #expect(
                report.tables.map { "\($0.name) \($0.rows)" } == [
                    "company 1", "everything 4", "item 1", "node 4", "note \(before[1].count)", "numbered 4",
                ])
            for (question, rows) in zip(Self.questions, before) {
                let found = try fixture.new.rows(question)
                #expect(found == rows, "\(question): \(found)")
                #expect(try fixture.old.rows(question) == rows, "\(question)")
            }

            // What was known to be unchanged is asked for with its validators, and the same bodies change nothing.
            let second = try await fixture.sync(Self.everything, of: fixture.new)
            #expect(second.map(\.outcome) == [.unchanged, .unchanged], "\(second)")
            let asked = ["/values", "/tree", "/items"].map { path in
                fixture.server.requests(path).last?.headers["if-none-match"]
            }
            #expect(asked == ["W/\"välues\"", "\"tree 2\"", "\"i\""])
            let third = try await fixture.sync(Self.everything, of: fixture.new, mode: .full)
            for report in third {
                let counts = [report.counts.inserted, report.counts.updated, report.counts.deleted]
                #expect(counts == [0, 0, 0], "\(report)")
            }
            // Numbers go on after the highest.
            try fixture.new.store.execute(Self.rejected)
            #expect(try fixture.new.rows("SELECT id FROM tributary_rejected ORDER BY id") == ["1", "2"])
            let highest = try fixture.new.rows("SELECT max(id) FROM tributary_run")[0]
            fixture.server.document("/tree", Self.tree.replacing("</r>", with: "<n id='e'/></r>"), etag: "\"tree 3\"")
            let fourth = try await fixture.sync(Self.everything, of: fixture.new)
            #expect(fourth.first?.outcome == .committed, "\(fourth)")
            #expect(try fixture.new.rows("SELECT id, name FROM numbered WHERE name = 'e'") == ["5|e"])
            #expect(try fixture.new.rows("SELECT count(*) - count(DISTINCT id), min(id) FROM tributary_run") == ["0|1"])
            let last = "SELECT run > \(highest) FROM tributary_change ORDER BY id DESC LIMIT 1"
            #expect(try fixture.new.rows(last) == ["1"])
        }
    }

    @Test(arguments: Direction.all) func aSourceThatIsPausedOrUndoneStaysSo(direction: Direction) async throws {
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            serve(fixture.server)
            try await fixture.sync(Self.everything, of: fixture.old)
            try fixture.old.store.execute("UPDATE tributary_source SET paused_at = last_run, undone = '[]'")
            let question = "SELECT source, paused_at, undone FROM tributary_source ORDER BY source"
            let rows = try fixture.old.rows(question)
            _ = try await fixture.move(Self.everything)
            #expect(try fixture.new.rows(question) == rows)
        }
    }

    @Test(arguments: Direction.all) func whatIsNotEmptyIsLeftAlone(direction: Direction) async throws {
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            serve(fixture.server)
            try await fixture.sync(Self.everything, of: fixture.old)
            // Made, with nothing in it but a row of somebody's.
            try await fixture.sync(
                Self.everything.replacing("[sources.shop]", with: "[sources.shop]\nenabled = false")
                    .replacing("[sources.everything]", with: "[sources.everything]\nenabled = false"), of: fixture.new)
            try fixture.new.store.execute("INSERT INTO company VALUES ('mine', 'M')")
            try await fixture.expectRefusal(Self.everything, "is not empty", "'company'")
            #expect(fixture.new.count("item", "node", "tributary_run", "tributary_change") == 0)
            try fixture.new.store.execute("DELETE FROM company")

            try await fixture.sync(Self.everything, of: fixture.new)
            let runs = fixture.new.count("tributary_run")
            try await fixture.expectRefusal(Self.everything, "has recorded runs")
            #expect(fixture.new.count("tributary_run") == runs)
        }
    }

    @Test(arguments: Direction.all) func aRowThatDoesNotFitLeavesNothing(direction: Direction) async throws {
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            serve(fixture.server)
            try await fixture.sync(Self.everything, of: fixture.old)
            let schema = StoreMoveFixture.schema.replacing(
                "size INTEGER,\n", with: "size INTEGER CHECK (size <> 1),\n")
            try fixture.new.folder.write(fixture.new.kind.sql(schema), to: "schema.sql")
            try await fixture.expectRefusal(Self.everything, "table 'node'", "nothing was moved")
            #expect(
                fixture.new.count(
                    "everything", "company", "item", "node", "numbered", "tributary_run", "tributary_source",
                    "tributary_request", "tributary_change") == 0)
            if fixture.new.kind == .sqlite {
                #expect(try files(in: fixture.new.folder.path).filter { $0.hasPrefix("store") } == [])
            }
            // Once the schema is right, nothing is in the way.
            if fixture.new.kind == .postgres { try fixture.new.store.execute("DROP TABLE node") }
            try fixture.new.folder.write(fixture.new.kind.sql(StoreMoveFixture.schema), to: "schema.sql")
            try await fixture.move(Self.everything)
        }
    }

    @Test(arguments: Direction.all) func columnsAndTablesThatAreNotThereAreNamed(direction: Direction) async throws {
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            serve(fixture.server)
            try fixture.old.folder.write(
                fixture.old.kind.sql(
                    StoreMoveFixture.schema + "CREATE TABLE IF NOT EXISTS other (id TEXT PRIMARY KEY);"),
                to: "schema.sql")
            let other = """

                [[sources.other.requests]]
                url = "URL/tree"
                tables = [{ table = "other", element = "n", key = ["id"], columns = { id = "@id" } }]
                """
            try await fixture.sync(Self.everything + other, of: fixture.old)
            try fixture.old.store.execute("ALTER TABLE company ADD COLUMN own INTEGER")
            // The source is not declared any more, and its rows are still there.
            try await fixture.expectRefusal(
                Self.everything, "no table 'other'", "table 'company' has no column 'own'")
            #expect(fixture.new.count("company", "tributary_run") == 0)
        }
    }

    @Test(arguments: Direction.all) func whatRunsIsNotMoved(direction: Direction) async throws {
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            serve(fixture.server)
            try await fixture.sync(Self.everything, of: fixture.old)
            let store = try #require(try fixture.configuration(Self.everything, of: fixture.old).openExistingStore())
            let claim = try #require(try store.claim("shop"))
            try await fixture.expectRefusal(Self.everything, "shop", "are running on")
            claim.unlock()
            let stopped = Stop()
            stopped.request()
            await #expect(throws: CancellationError.self) {
                try await fixture.move(Self.everything, stop: stopped)
            }
            #expect(fixture.new.count("company", "tributary_run") == 0)
            // Leases that a slow machine did not give back before the stop's limit end by themselves.
            if let shared = store as? any SharedStore {
                while try !shared.runners().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            }
            try store.close()
            try await fixture.move(Self.everything)
        }
    }

    @Test(arguments: StoreKind.allCases) func aStoreIsNotMovedIntoItself(kind: StoreKind) async throws {
        let direction = Direction(old: kind, new: kind)
        guard Direction.all.contains(where: { $0.old == kind }) else { return }
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            serve(fixture.server)
            try await fixture.sync(Self.everything, of: fixture.old)
            let configuration = try fixture.configuration(Self.everything, of: fixture.old)
            let error = #expect(throws: StoreError.self) {
                try configuration.moveStore(to: configuration, parsers: EngineFixture.registry)
            }
            #expect(error?.message.contains("is the store that is declared") == true, "\(error?.message ?? "")")
            #expect(fixture.old.count("company") == 1)
        }
    }

    @Test func daemonsOfASharedStoreAreNamed() async throws {
        guard let direction = Direction.all.first(where: { $0.old == .postgres }) else { return }
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            serve(fixture.server)
            try await fixture.sync(Self.everything, of: fixture.old)
            let store = try fixture.configuration(Self.everything, of: fixture.old).openExistingStore()
            let shared = try #require(store as? any SharedStore)
            _ = try shared.beat(
                DaemonRecord(
                    id: shared.daemonID, name: "web1:4711", startedAt: Date(), declared: DeclaredSources(["shop": "h"]))
            )
            try await fixture.expectRefusal(Self.everything, "daemons run", "web1:4711")
            try shared.leave()
            try shared.close()
        }
    }

    @Test func anotherKindOfStoreNeedsASchemaOfItsOwn() async throws {
        try await StoreMoveFixture.with(Direction(old: .sqlite, new: .sqlite)) { (fixture) async throws in
            let configuration = try fixture.configuration(Self.everything, of: fixture.old)
            let error = #expect(throws: StoreError.self) {
                try configuration.moved(to: .server("postgresql://u@h/d"), schema: nil)
            }
            #expect(error?.message.contains("--schema") == true)
            let moved = try configuration.moved(to: .file("/tmp/x.sqlite"), schema: nil)
            #expect(moved.schemaPath == configuration.schemaPath)
        }
    }
}
