import FeedConfiguration
import FeedExporting
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Mirrors that mark rows as gone instead of deleting them: `deleted = "gone_at"`.
@Suite struct GoneRowsTests {
    static func mapping(_ options: String = "", path: String = "/a", tableOptions: String = "") -> String {
        """
        [[sources.s.requests]]
        url = "URL\(path)"
        sync = "mirror"
        \(options)
        [[sources.s.requests.tables]]
        table = "thing"
        element = "item"
        key = ["id"]
        columns = { id = "@id", name = "name" }
        deleted = "gone_at"
        \(tableOptions)

        """
    }

    /// Syncs, and expects that the run is good.
    static func sync(
        _ fixture: EngineFixture, _ sources: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> MergeCounts {
        let report = try #require(try await fixture.sync(sources, clock: fixture.clock).first)
        #expect(report.error == nil, sourceLocation: sourceLocation)
        return report.counts
    }

    static func items(_ ids: String..., name: String = "n") -> String { EngineFixture.items(ids, name: name) }

    private static let changelog =
        "SELECT run, \"table\", key, operation FROM tributary_change WHERE run > 1 ORDER BY id"

    @Test(.onEachStore) func aRowIsMarkedAndComesBack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rows = { try fixture.rows("SELECT id, name, gone_at FROM thing ORDER BY id") }
            fixture.server.document("/a", Self.items("a", "b", "c"))
            #expect(try await Self.sync(fixture, Self.mapping()) == MergeCounts(inserted: 3))
            fixture.server.document("/a", Self.items("a", "c"))
            #expect(try await Self.sync(fixture, Self.mapping()) == MergeCounts(deleted: 1, unchanged: 2))
            #expect(try rows() == ["a|n|NULL", "b|n|2027-01-15T08:00:00Z", "c|n|NULL"])
            // It stays as it is.
            fixture.clock.advance(by: 3600)
            fixture.server.document("/a", Self.items("a", "c") + "<!-- again -->")
            #expect(try await Self.sync(fixture, Self.mapping()) == MergeCounts(unchanged: 2))
            fixture.server.document("/a", Self.items("c", name: "new"))
            #expect(try await Self.sync(fixture, Self.mapping()) == MergeCounts(updated: 1, deleted: 1))
            #expect(try rows() == ["a|n|2027-01-15T09:00:00Z", "b|n|2027-01-15T08:00:00Z", "c|new|NULL"])
            // With other values, or as it was.
            fixture.server.document(
                "/a", "<items><item id='a'><name>n</name></item><item id='b'><name>other</name></item></items>")
            #expect(try await Self.sync(fixture, Self.mapping()) == MergeCounts(inserted: 2, deleted: 1))
            #expect(try rows() == ["a|n|NULL", "b|other|NULL", "c|new|2027-01-15T09:00:00Z"])
            #expect(
                try fixture.rows(Self.changelog) == [
                    "2|thing|b|delete", "4|thing|a|delete", "4|thing|c|update", "5|thing|c|delete", "5|thing|a|insert",
                    "5|thing|b|insert",
                ])
            #expect(
                try fixture.rows("SELECT inserted, updated, deleted, unchanged FROM tributary_run ORDER BY id") == [
                    "3|0|0|0", "0|0|1|2", "0|0|0|2", "0|1|1|0", "2|0|1|0",
                ])
        }
    }

    /// Rows that are gone count neither as deleted nor among the rows of the scope.
    @Test(.onEachStore) func theFuseLooksAtRowsThatAreThere() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func sync(_ count: Int, _ name: String = "n", _ options: String = "") async throws -> RunReport? {
                let ids = (1000..<1000 + count).map(String.init)
                fixture.server.document("/a", EngineFixture.items(ids, name: name))
                return try await fixture.sync(Self.mapping(options)).first
            }
            _ = try await sync(300)
            #expect(try await sync(160)?.counts.deleted == 140)
            #expect(try await sync(160, "m")?.counts == MergeCounts(updated: 160))
            // 81 of 160 are more than half; of 300 they would not be.
            #expect(try await sync(79)?.error?.contains("delete 81 of the 160 rows") == true)
            #expect(try await sync(80)?.counts.deleted == 80)
            #expect(
                try await sync(80, "o", "max_changed = \"50%\"")?.error?.contains("update 80 of the 80 rows") == true)
        }
    }

    @Test(.onEachStore) func scopesAndSeveralRequests() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let two = { (names: [String]) in
                names.map { Self.mapping("scope = { shop = \"\($0)\" }", path: "/\($0)") }.joined()
            }
            fixture.server.document("/a", Self.items("1", "2"))
            fixture.server.document("/b", Self.items("3", "4"))
            #expect(try await Self.sync(fixture, two(["a", "b"])).inserted == 4)
            fixture.server.document("/a", Self.items("2"))
            #expect(try await Self.sync(fixture, two(["a", "b"])) == MergeCounts(deleted: 1, unchanged: 1))
            fixture.server.document("/b", Self.items("4", "1"))
            // What has moved to the other shop is back, and not deleted.
            #expect(
                try await Self.sync(fixture, two(["a", "b"])) == MergeCounts(inserted: 1, deleted: 1, unchanged: 1))
            #expect(
                try fixture.rows("SELECT id, shop, gone_at IS NULL FROM thing ORDER BY id") == [
                    "1|b|1", "2|a|1", "3|b|0", "4|b|1",
                ])
        }
    }

    /// A request that only adds to the table brings rows back, too.
    @Test(.onEachStore) func requestsThatDoNotMirrorBringRowsBack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for (mode, name) in [("upsert", "new"), ("insert", "n")] {
                let sources =
                    Self.mapping()
                    + Self.mapping(path: "/b").replacing("mirror", with: mode).replacing(
                        "deleted = \"gone_at\"", with: "")
                fixture.server.document("/a", Self.items("1", "2"))
                fixture.server.document("/b", Self.items())
                _ = try await Self.sync(fixture, sources.replacing("URL/b", with: "URL/a"))
                fixture.server.document("/a", Self.items("1"))
                fixture.server.document("/b", Self.items("1"))
                #expect(try await Self.sync(fixture, sources).deleted == 1)
                // The mirror's document is unchanged.
                fixture.server.document("/b", Self.items("2", name: "new"))
                #expect(try await Self.sync(fixture, sources).inserted == 1)
                #expect(try fixture.rows("SELECT name, gone_at FROM thing WHERE id = '2'") == ["\(name)|NULL"])
            }
        }
    }

    @Test(.onEachStore) func windowsLimitWhatIsMarked() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.mapping(tableOptions: "window = \"name\"")
            func sync(_ rows: [(String, String)]) async throws -> MergeCounts {
                let items = rows.map { "<item id='\($0.0)'><name>\($0.1)</name></item>" }
                fixture.server.document("/a", "<items>\(items.joined())</items>")
                return try await Self.sync(fixture, sources)
            }
            _ = try await sync([("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")])
            #expect(try await sync([("2", "b"), ("4", "d")]) == MergeCounts(deleted: 1, unchanged: 2))
            #expect(try fixture.rows("SELECT id FROM thing WHERE gone_at IS NULL ORDER BY 1") == ["1", "2", "4"])
            #expect(try await sync([("4", "d")]) == MergeCounts(unchanged: 1))
            #expect(try await sync([("3", "c"), ("5", "e")]) == MergeCounts(inserted: 2, deleted: 1))
            #expect(try fixture.rows("SELECT id FROM thing WHERE gone_at IS NOT NULL ORDER BY 1") == ["4"])
        }
    }

    private static let orders = """
        [[sources.s.requests]]
        url = "URL/a"
        sync = "mirror"
        deleted = "gone_at"
        allow_empty = true
        [[sources.s.requests.tables]]
        table = "purchase"
        element = "order"
        key = ["number"]
        columns = { number = "@nr" }
        [[sources.s.requests.tables]]
        table = "line"
        element = "line"
        key = ["purchase", "position"]
        within = "purchase"
        columns = { purchase = { parent = "purchase" }, position = { ordinal = true }, sku = "@sku" }

        """

    private static func orders(_ orders: [(String, [String])]) -> String {
        let all = orders.map { "<order nr='\($0.0)'>\($0.1.map { "<line sku='\($0)'/>" }.joined())</order>" }
        return "<orders>\(all.joined())</orders>"
    }

    /// The children of a row that is gone stay as they are; those of one that is there are mirrored within it.
    @Test(.onEachStore) func parentsKeepTheirChildren() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func sync(_ orders: [(String, [String])]) async throws -> MergeCounts {
                fixture.server.document("/a", Self.orders(orders))
                return try await Self.sync(fixture, Self.orders)
            }
            let there = {
                try fixture.rows("SELECT number FROM purchase WHERE gone_at IS NULL ORDER BY 1")
                    + fixture.rows("SELECT purchase, sku FROM line WHERE gone_at IS NULL ORDER BY 1, 2")
            }
            #expect(try await sync([("1", ["a", "b"]), ("2", ["c"])]).inserted == 5)
            #expect(try await sync([("1", ["a"])]) == MergeCounts(deleted: 2, unchanged: 2))
            #expect(try there() == ["1", "1|a", "2|c"])
            #expect(try await sync([("1", ["a", "x"]), ("2", ["c"])]) == MergeCounts(inserted: 2, unchanged: 3))
            #expect(try there() == ["1", "2", "1|a", "1|x", "2|c"])
            #expect(try await sync([]) == MergeCounts(deleted: 2))
            #expect(try await sync([("2", [])]) == MergeCounts(inserted: 1, deleted: 1))
            #expect(try there() == ["2", "1|a", "1|x"])
        }
    }

    @Test(.onEachStore) func exportsHaveTheRowsThatAreThere() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.orders([("1", ["a", "b"]), ("2", ["c"]), ("3", [])]))
            _ = try await Self.sync(fixture, Self.orders)
            fixture.server.document("/a", Self.orders([("1", ["a"]), ("3", [])]))
            _ = try await Self.sync(fixture, Self.orders)
            var document = ""
            try fixture.exporter(fixture.configuration(Self.orders)).export {
                document += String(decoding: $0, as: UTF8.self)
            }
            #expect(document.contains("nr=\"1\"") && document.contains("nr=\"3\"") && document.contains("sku=\"a\""))
            #expect(
                !document.contains("nr=\"2\"") && !document.contains("sku=\"b\"") && !document.contains("sku=\"c\""))
        }
    }

    /// A UNIQUE value of a row that is gone stays taken, unless the index leaves such rows out.
    @Test(.onEachStore) func uniqueValues() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let table = "CREATE TABLE IF NOT EXISTS thing (id TEXT PRIMARY KEY, name TEXT, gone_at TEXT);"
            try fixture.write(schema: table + "CREATE UNIQUE INDEX IF NOT EXISTS thing_name ON thing (name);")
            func sync(_ rows: [(String, String)]) async throws -> RunReport? {
                let items = rows.map { "<item id='\($0.0)'><name>\($0.1)</name></item>" }
                fixture.server.document("/a", "<items>\(items.joined())</items>")
                return try await fixture.sync(Self.mapping(), clock: fixture.clock).first
            }
            #expect(try await sync([("1", "x"), ("2", "y")])?.error == nil)
            let report = try await sync([("2", "y"), ("3", "x")])
            #expect(report?.outcome == .discarded)
            #expect(report?.error?.contains("WHERE \"gone_at\" IS NULL") == true)
            try fixture.store.execute("DROP INDEX thing_name")
            try fixture.write(
                schema: table
                    + "CREATE UNIQUE INDEX IF NOT EXISTS thing_name ON thing (name) WHERE gone_at IS NULL;")
            #expect(
                try await sync([("2", "y"), ("3", "x")])?.counts == MergeCounts(inserted: 1, deleted: 1, unchanged: 1))
            // It comes back with the value of a row that changes, and the other way round.
            #expect(
                try await sync([("1", "y"), ("2", "x")])?.counts == MergeCounts(inserted: 1, updated: 1, deleted: 1))
            #expect(try await sync([("1", "x"), ("2", "y")])?.counts == MergeCounts(updated: 2))
            #expect(
                try fixture.rows("SELECT id, name, gone_at IS NULL FROM thing ORDER BY 1") == [
                    "1|x|1", "2|y|1", "3|x|0",
                ])
        }
    }

    /// Rows without a key are compared whole.
    @Test(.onEachStore) func rowsWithoutAKey() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT, gone_at TEXT);")
            let sources = """
                [[sources.s.requests]]
                url = "URL/a"
                sync = "mirror"
                parser = "mirrored"
                deleted = "gone_at"

                """
            fixture.server.document("/a", "<all><note text='1'/><note text='2'/></all>")
            #expect(try await Self.sync(fixture, sources).inserted == 2)
            let before = try fixture.dump()
            fixture.server.document("/a", "<all><note text='2'/></all>")
            #expect(try await Self.sync(fixture, sources) == MergeCounts(deleted: 1, unchanged: 1))
            fixture.server.document("/a", "<all><note text='2'/><!-- --></all>")
            #expect(try await Self.sync(fixture, sources) == MergeCounts(unchanged: 1))
            fixture.server.document("/a", "<all><note text='1'/><note text='2'/></all>")
            #expect(try await Self.sync(fixture, sources) == MergeCounts(inserted: 1, unchanged: 1))
            #expect(try fixture.dump() == before)
        }
    }

    /// Rows that are gone are there to be referred to, though others come first.
    @Test(.onEachStore) func references() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema:
                    "CREATE TABLE IF NOT EXISTS firm (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT, gone_at TEXT);"
            )
            let sources = """
                [[sources.s.requests]]
                url = "URL/firms"
                sync = "mirror"
                [[sources.s.requests.tables]]
                table = "firm"
                element = "firm"
                key = ["code"]
                deleted = "gone_at"
                columns = { code = "@code", name = "@name" }
                [[sources.s.requests]]
                url = "URL/staff"
                [[sources.s.requests.tables]]
                table = "staff"
                element = "person"
                key = ["id"]
                columns = { id = "@id", firm = { path = "@firm", references = "firm(name)" } }

                """
            let firms = { (firms: [String]) in
                "<firms>\(firms.map { "<firm code='\($0.prefix(1))' name='\($0.dropFirst())'/>" }.joined())</firms>"
            }
            func staff(_ id: String) async throws -> String? {
                fixture.server.document("/staff", "<staff><person id='\(id)' firm='Acme'/></staff>")
                _ = try await Self.sync(fixture, sources)
                return try fixture.rows("SELECT code FROM staff JOIN firm ON firm.id = firm WHERE staff.id = '\(id)'")
                    .first
            }
            fixture.server.document("/firms", firms(["1Acme", "2Other"]))
            #expect(try await staff("a") == "1")
            fixture.server.document("/firms", firms(["2Other"]))
            #expect(try await staff("b") == "1")
            fixture.server.document("/firms", firms(["2Other", "3Acme"]))
            #expect(try await staff("c") == "3")
        }
    }

    /// Another source looks for a row that is there, too.
    @Test(.onEachStore) func referencesOfAnotherSource() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let firms = """
                [[sources.firms.requests]]
                url = "URL/firms"
                sync = "mirror"
                [[sources.firms.requests.tables]]
                table = "firm"
                element = "firm"
                key = ["code"]
                deleted = "gone_at"
                columns = { code = { path = "@code", type = "integer" }, name = "@name" }

                """
            let staff = """
                [[sources.staff.requests]]
                url = "URL/staff"
                [[sources.staff.requests.tables]]
                table = "person"
                element = "person"
                key = ["id"]
                columns = { id = "@id", firm = { path = "@firm", references = "firm(name)" } }
                """
            for (document, expected) in [
                ("<firm code='1' name='Acme'/>", "1"), ("<firm code='2' name='Acme'/>", "2"),
            ] {
                fixture.server.document("/firms", "<firms>\(document)</firms>")
                fixture.server.document("/staff", "<staff><person id='a' firm='Acme'/><!-- \(expected) --></staff>")
                for name in ["firms", "staff"] {
                    let report = try #require(try await fixture.sync(firms + staff, [name], mode: .full).first)
                    #expect(report.error == nil, "\(report)")
                }
                #expect(try fixture.rows("SELECT firm FROM person") == [expected])
            }
        }
    }

    @Test(.onEachStore) func aParsersTablesGetTheColumn() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = EngineFixture.request("/a", "sync = \"mirror\"\ndeleted = \"gone_at\"")
            fixture.server.document("/a", Self.items("1", "2"))
            _ = try await Self.sync(fixture, EngineFixture.request("/a"))
            _ = try await Self.sync(fixture, sources)
            fixture.server.document("/a", Self.items("2"))
            #expect(try await Self.sync(fixture, sources) == MergeCounts(deleted: 1, unchanged: 1))
            fixture.server.document("/a", Self.items("2", "1"))
            #expect(try await Self.sync(fixture, sources) == MergeCounts(inserted: 1, unchanged: 1))
            #expect(try fixture.rows("SELECT id, gone_at FROM item ORDER BY 1") == ["1|NULL", "2|NULL"])
        }
    }

    /// Without `deleted` again, rows that are gone are rows that the feed lacks.
    @Test(.onEachStore) func aTableGetsAndLosesTheOption() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let without = Self.mapping().replacing("deleted = \"gone_at\"", with: "")
            fixture.server.document("/a", Self.items("1", "2"))
            _ = try await Self.sync(fixture, without)
            fixture.server.document("/a", Self.items("2"))
            _ = try await Self.sync(fixture, Self.mapping())
            #expect(try fixture.rows("SELECT id, gone_at IS NULL FROM thing ORDER BY 1") == ["1|0", "2|1"])
            #expect(try await Self.sync(fixture, without) == MergeCounts(deleted: 1, unchanged: 1))
        }
    }

    /// With a history, marks come and go as whole rows do.
    @Test(.onEachStore) func undoTakesMarksBack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = "[sources.s]\nkeep_history = true\n" + Self.mapping()
            var states: [[String]] = []
            for document in [Self.items("1", "2", "3"), Self.items("1", name: "new"), Self.items("1", "2")] {
                fixture.clock.advance(by: 60)
                fixture.server.document("/a", document)
                _ = try await Self.sync(fixture, sources)
                states.append(try fixture.rows("SELECT id, name, gone_at FROM thing ORDER BY id"))
            }
            for state in states.dropLast().reversed() {
                let store = try #require(try fixture.configuration(sources).openExistingStore(isWritten: true))
                _ = try await UndoRun(
                    "s", to: .lastChange, in: store, declaration: nil, parsers: EngineFixture.registry
                )
                .run()
                try store.close()
                #expect(try fixture.rows("SELECT id, name, gone_at FROM thing ORDER BY id") == state)
            }
        }
    }

    @Test(.onEachStore) func aPlanShowsDeletions() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items("1", "2", "3"))
            _ = try await Self.sync(fixture, Self.mapping())
            fixture.server.document("/a", Self.items("2", "3"))
            _ = try await Self.sync(fixture, Self.mapping())
            fixture.server.document("/a", Self.items("1", "2", name: "new"))
            let before = try fixture.dump()
            let service = try fixture.service(Self.mapping(), clock: SystemClock())
            let source = try #require(try fixture.configuration(Self.mapping())[source: "s"])
            let told = ToldChanges()
            let plan = try await service.plan(source, bodies: [:], ignoresValidators: true) { told.add($0) }
            try service.store.close()
            #expect(plan.counts == MergeCounts(inserted: 1, updated: 1, deleted: 1))
            #expect(told.all == ["delete 3", "insert 1", "update 2"])
            #expect(try fixture.dump() == before)
        }
    }

    @Test(.onEachStore) func columnsThatCannotHoldTheMark() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items("1"))
            for (type, expected) in [
                ("INTEGER", "gives column 'gone_at' of table 'thing' the type"),
                ("TEXT NOT NULL", "which 'deleted' names, is NOT NULL"),
            ] {
                try fixture.store.execute(
                    "DROP TABLE IF EXISTS thing; CREATE TABLE thing (id TEXT PRIMARY KEY, name TEXT, gone_at \(type))")
                let report = try await fixture.sync(Self.mapping()).first
                #expect(report?.error?.contains(expected) == true)
            }
        }
    }

    @Test func mistakesAreReported() async throws {
        for (sources, expected) in [
            (
                Self.mapping().replacing("mirror", with: "upsert"),
                "requires a mirror, but these rows are merged with sync = \"upsert\"; write sync = \"mirror\""
            ),
            (Self.mapping(tableOptions: "sync = \"insert\""), "merged with sync = \"insert\""),
            (
                EngineFixture.request("/a", "deleted = \"gone_at\""),
                "sources.s.requests[1].deleted: requires a mirror"
            ),
            (Self.mapping().replacing("\"gone_at\"", with: "\"name\""), "remove it from 'columns'"),
            (Self.mapping("scope = { gone_at = \"x\" }"), "'scope' and 'deleted' name the same column"),
            (
                Self.mapping() + Self.mapping(path: "/b").replacing("deleted = \"gone_at\"", with: ""),
                "'deleted' of table 'thing' is missing here and 'gone_at' in sources.s.requests[1].tables[1]"
            ),
            (Self.mapping().replacing("\"gone_at\"", with: "\"tributary_x\""), "is reserved"),
        ] {
            try await EngineFixture.expectMistake(sources, expected)
        }
    }
}
