import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Rows that go when they are too old: `expire = { column = "stop", after = "7d" }`.
@Suite(.onEachStore) struct ExpiryTests {
    /// The clock begins at 2027-01-15T08:00:00Z.
    private static func mapping(
        _ options: String = "", type: String = "datetime", sync: String = "mirror", tableOptions: String = ""
    ) -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        sync = "\(sync)"
        \(options)
        [[sources.s.requests.tables]]
        table = "show"
        element = "show"
        key = ["id"]
        columns = { id = "@id", stop = { path = "@stop", type = "\(type)" } }
        expire = { column = "stop", after = "2d" }
        \(tableOptions)

        """
    }

    private static func shows(_ shows: KeyValuePairs<String, String>) -> String {
        "<shows>\(shows.map { "<show id='\($0.key)' stop='\($0.value)'/>" }.joined())</shows>"
    }

    private static func sync(
        _ fixture: EngineFixture, _ sources: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RunReport {
        let report = try #require(try await fixture.sync(sources, clock: fixture.clock).first)
        #expect(report.error == nil, sourceLocation: sourceLocation)
        return report
    }

    @Test(arguments: ["mirror", "upsert"]) func rowsGoWhenTheyAreOld(sync: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.mapping(sync: sync)
            fixture.server.document(
                "/a",
                Self.shows([
                    "old": "2027-01-13T07:59:00Z", "just": "2027-01-13T08:01:00Z", "new": "2027-01-20T08:00:00Z",
                    "none": "",
                ]))
            // What has expired is not merged at all.
            var report = try await Self.sync(fixture, sources)
            #expect(report.counts.inserted == 3 && report.skipped == 1)
            fixture.clock.advance(by: 3600)
            fixture.server.document(
                "/a", Self.shows(["just": "2027-01-13T08:01:00Z", "new": "2027-01-20T08:00:00Z", "none": ""]))
            report = try await Self.sync(fixture, sources)
            #expect(report.counts.deleted == 1 && report.counts.unchanged == 2 && report.skipped == 1)
            // It does not come and go.
            let before = try fixture.dump()
            fixture.server.document(
                "/a", Self.shows(["new": "2027-01-20T08:00:00Z", "just": "2027-01-13T08:01:00Z", "none": ""]))
            report = try await Self.sync(fixture, sources)
            #expect(report.counts.unchanged == 2 && report.counts.deleted == 0 && report.skipped == 1)
            #expect(try fixture.dump() == before)
            // A row whose new date is old goes; one without a date stays.
            fixture.server.document("/a", Self.shows(["new": "2027-01-01T08:00:00Z", "none": ""]))
            report = try await Self.sync(fixture, sources)
            #expect(report.counts.deleted == 1 && report.skipped == 1)
            #expect(try fixture.rows("SELECT id FROM show") == ["none"])
            #expect(
                try fixture.rows("SELECT key, operation FROM tributary_change WHERE run > 1 ORDER BY id") == [
                    "just|delete", "new|delete",
                ])
        }
    }

    /// A run that finds every feed unchanged commits what has expired.
    @Test(arguments: ["", "CREATE TABLE IF NOT EXISTS show (id TEXT PRIMARY KEY, stop TEXT);"])
    func timesWithMillisecondsExpireAsTimes(schema: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            if !schema.isEmpty { try fixture.store.execute(schema) }
            let shows = Self.shows([
                "a": "2027-01-13T07:59:59.999Z", "b": "2027-01-13T08:00:00Z", "c": "2027-01-13T08:00:00.001Z",
                "d": "2027-01-13T08:00:01Z",
            ])
            fixture.server.document("/a", shows)
            let report = try await Self.sync(fixture, Self.mapping())
            #expect(report.counts.inserted == 3 && report.skipped == 1)
            #expect(try fixture.rows("SELECT id FROM show ORDER BY id") == ["b", "c", "d"])
        }
    }

    @Test func rowsExpireThoughNothingHasChanged() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.shows(["1": "2027-01-15T09:00:00Z", "2": ""]), etag: "\"1\"")
            _ = try await Self.sync(fixture, Self.mapping())
            #expect(try await Self.sync(fixture, Self.mapping()).outcome == .unchanged)
            fixture.clock.advance(by: 3 * 86_400)
            let report = try await Self.sync(fixture, Self.mapping())
            #expect(report.outcome == .committed && report.counts == MergeCounts(deleted: 1))
            #expect(report.requests.first?.status == 304)
            #expect(try await Self.sync(fixture, Self.mapping()).outcome == .unchanged)
            #expect(try fixture.rows("SELECT id FROM show") == ["2"])
        }
    }

    @Test func daysEndWithTheirLastHour() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.mapping(type: "date")
            fixture.server.document(
                "/a", Self.shows(["12": "2027-01-12", "13": "2027-01-13", "14": "2027-01-14"]))
            #expect(try await Self.sync(fixture, sources).counts.inserted == 2)
            fixture.clock.advance(by: 86_400)
            fixture.server.document("/a", Self.shows(["14": "2027-01-14", "15": "2027-01-15"]))
            #expect(try await Self.sync(fixture, sources).counts == MergeCounts(inserted: 1, deleted: 1, unchanged: 1))
            #expect(try fixture.rows("SELECT id FROM show ORDER BY 1") == ["14", "15"])
        }
    }

    /// What goes by its date counts for no limit, whether the feed still has it or not.
    @Test func theFuseDoesNotCount() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let show = { (number: Int, day: Int) in "<show id='\(number)' stop='2027-01-\(day)T00:00:00Z'/>" }
            let old = (0..<300).map { show($0, 14) }
            let new = (300..<400).map { show($0, 28) }
            fixture.server.document("/a", "<shows>\((old + new).joined())</shows>")
            let sources = Self.mapping("max_deleted = 1")
            #expect(try await Self.sync(fixture, sources).counts.inserted == 400)
            fixture.clock.advance(by: 3 * 86_400)
            fixture.server.document("/a", "<shows>\((old.prefix(100) + new.dropFirst()).joined())</shows>")
            let report = try await Self.sync(fixture, sources)
            #expect(report.counts.deleted == 301 && report.skipped == 100)
        }
    }

    /// Rows that are gone are cleared away by the date at which they went.
    @Test(arguments: ["gone_at", "stop"]) func withDeletedRowsGoForGood(column: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.mapping(tableOptions: "deleted = \"gone_at\"").replacing(
                "column = \"stop\"", with: "column = \"\(column)\"")
            let late = "2027-01-15T09:00:00Z"
            fixture.server.document("/a", Self.shows(["1": late, "2": late, "3": late]))
            #expect(try await Self.sync(fixture, sources).counts.inserted == 3)
            fixture.server.document("/a", Self.shows(["3": "2027-05-05T00:00:00Z"]))
            #expect(try await Self.sync(fixture, sources).counts == MergeCounts(updated: 1, deleted: 2))
            fixture.clock.advance(by: 86_400)
            fixture.server.document("/a", Self.shows(["2": "2027-05-05T00:00:00Z", "3": "2027-05-05T00:00:00Z"]))
            #expect(try await Self.sync(fixture, sources).counts == MergeCounts(inserted: 1, unchanged: 1))
            fixture.clock.advance(by: 2 * 86_400)
            fixture.server.document("/a", Self.shows(["3": "2027-05-05T00:00:00Z"]))
            // The first goes for good, the second is marked.
            #expect(try await Self.sync(fixture, sources).counts == MergeCounts(deleted: 2, unchanged: 1))
            #expect(
                try fixture.rows("SELECT id, gone_at FROM show ORDER BY 1") == ["2|2027-01-18T08:00:00Z", "3|NULL"])
        }
    }

    /// The records within an expired one go with it, whoever makes its key.
    @Test(arguments: ["\"id\"", "\"id\", \"channel\""]) func rowsWithinGoAlong(key: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = """
                [[sources.s.requests]]
                url = "URL/a"
                sync = "mirror"
                [[sources.s.requests.tables]]
                table = "show"
                element = "show"
                key = [\(key)]
                expire = { column = "stop", after = "2d" }
                columns = { id = "@id", channel = "@channel", stop = { path = "@stop", type = "datetime" } }
                [[sources.s.requests.tables]]
                table = "credit"
                element = "credit"
                columns = { show = { parent = "show" }, name = "@name" }

                """
            let show = { (id: String, stop: String) in
                "<show id='\(id)' channel='c' stop='\(stop)'><credit name='a \(id)'/><credit name='b'/></show>"
            }
            let (early, late) = ("2027-01-15T09:00:00Z", "2027-03-01T00:00:00Z")
            fixture.server.document("/a", "<all>\(show("0", "2020-01-01"))\(show("1", early))\(show("2", late))</all>")
            var report = try await Self.sync(fixture, sources)
            #expect(report.counts.inserted == 6 && report.skipped == 3)
            fixture.clock.advance(by: 3 * 86_400)
            fixture.server.document("/a", "<all>\(show("1", early))\(show("2", late))<!-- --></all>")
            report = try await Self.sync(fixture, sources)
            #expect(report.counts.deleted == 3 && report.counts.inserted == 0 && report.skipped == 3)
            #expect(try fixture.rows("SELECT id FROM show") == ["2"])
            #expect(try fixture.rows("SELECT name FROM credit ORDER BY 1") == ["a 2", "b"])
            fixture.server.document("/a", "<all>\(show("2", late))</all>")
            #expect(try await Self.sync(fixture, sources).counts == MergeCounts(unchanged: 3))
        }
    }

    @Test func scopesAndDatesOfTheFirstImport() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS show (
                        id TEXT PRIMARY KEY, shop TEXT, stop TEXT, seen \(StoreKind.by(sqlite: "TEXT", postgres: "timestamptz")));
                    """)
            let sources = Self.mapping("scope = { shop = \"a\" }").replacing(
                "columns = {",
                with: "columns = { seen = { response = \"fetched_at\", type = \"datetime\", overwrite = false },"
            ).replacing("column = \"stop\"", with: "column = \"seen\"")
            fixture.server.document("/a", Self.shows(["1": ""]))
            _ = try await Self.sync(fixture, sources)
            try fixture.store.execute(
                """
                INSERT INTO show VALUES ('other', 'b', NULL, '2020-01-01T00:00:00Z'), ('text', 'a', NULL, NULL);
                UPDATE show SET seen = '2020-01-01T00:00:00Z' WHERE id = '1'
                """)
            fixture.server.document("/a", Self.shows(["2": ""]))
            #expect(try await Self.sync(fixture, sources).counts == MergeCounts(inserted: 1, deleted: 2))
            #expect(try fixture.rows("SELECT id FROM show ORDER BY 1") == ["2", "other"])
        }
    }

    @Test func checkTellsOfWhatIsMissing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func told(_ sources: String, sync: Bool = true) async throws -> [String] {
                fixture.server.document("/a", "<all><show id='1' stop=''/><item id='1'/></all>")
                if sync { _ = try await fixture.sync(sources) }
                let configuration = try fixture.configuration(sources)
                let request = try #require(configuration[source: "s"]?.requests.first)
                let store = try #require(try configuration.openExistingStore())
                defer { try? store.close() }
                return try
                    (request.scopeMistakes(in: store, store, parsers: EngineFixture.registry)
                    + request.notes(on: store, parsers: EngineFixture.registry)).map(\.description)
            }
            // Tables that are made for a mapping have an index.
            let scoped = Self.mapping("scope = { shop = \"a\" }", tableOptions: "deleted = \"gone_at\"")
            #expect(try await told(scoped).isEmpty)
            try fixture.store.execute("DROP TABLE show; CREATE TABLE show (id text PRIMARY KEY, shop text, stop text)")
            let index = "CREATE INDEX \"show_stop\" ON \"show\" (\"shop\", \"stop\")"
            let notes = try await told(scoped)
            #expect(notes.count == 1 && notes.first?.hasSuffix("run " + index) == true, "\(notes)")
            try fixture.store.execute(index)
            #expect(try await told(scoped).isEmpty)
            let parser = { (column: String) in
                EngineFixture.request("/a", "expire = { column = \"\(column)\", after = \"2d\" }")
            }
            let size = try await told(parser("size"), sync: false)
            #expect(size.first?.contains("which holds no dates") == true)
            let stop = try await told(parser("stop"), sync: false)
            #expect(stop.first?.contains("has no column 'stop', which 'expire' names") == true)
        }
    }

    @Test func columnsWithoutDatesAreRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = EngineFixture.request("/a", "expire = { column = \"size\", after = \"2d\" }")
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let report = try await fixture.sync(sources).first
            #expect(report?.error?.contains("the column 'size' of table 'item', which 'expire' names, is") == true)
        }
        for (sources, expected) in [
            (Self.mapping(type: "text"), "'stop' has no dates"),
            (Self.mapping().replacing("\"stop\", after", with: "\"stopp\", after"), "did you mean 'stop'?"),
            (Self.mapping().replacing("\"2d\"", with: "\"soon\""), "is not a duration"),
            (Self.mapping().replacing(", after = \"2d\"", with: ""), "'after' is missing"),
            (Self.mapping().replacing(", after", with: ", days = 2, after"), "days"),
        ] {
            try await EngineFixture.expectMistake(sources, expected)
        }
    }
}
