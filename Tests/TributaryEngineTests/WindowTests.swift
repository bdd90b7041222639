import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine

/// Mirrors of a window that moves: what has left it stays, what was withdrawn within it goes.
@Suite struct WindowTests {
    private static func mapping(_ options: String, type: String = "datetime") -> String {
        """
        [[sources.s.requests]]
        url = "URL/guide"
        sync = "mirror"
        allow_empty = true
        \(options)
        [[sources.s.requests.tables]]
        table = "programme"
        element = "p"
        key = ["id"]
        window = "start"
        columns = { id = "@id", start = { path = "@start", type = "\(type)" } }
        """
    }

    private static func guide(_ programmes: KeyValuePairs<String, String>) -> String {
        "<guide>" + programmes.map { "<p id='\($0.key)' start='\($0.value)'/>" }.joined() + "</guide>"
    }

    private func expectRows(
        _ fixture: EngineFixture, _ mapping: String, _ document: String, _ expected: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        fixture.server.document("/guide", document)
        let report = try await fixture.sync(mapping).first
        #expect(report?.error == nil, sourceLocation: sourceLocation)
        #expect(
            try fixture.rows("SELECT id FROM programme ORDER BY id") == expected, sourceLocation: sourceLocation)
    }

    /// As texts, a time with milliseconds would be below the same second without. It is not as a time.
    @Test(.onEachStore, arguments: ["", "CREATE TABLE IF NOT EXISTS programme (id TEXT PRIMARY KEY, start TEXT);"])
    func timesAreComparedAsTimes(schema: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            if !schema.isEmpty { try fixture.store.execute(schema) }
            let mapping = Self.mapping("")
            func second(_ decimals: String) -> String { "2026-01-02T00:00:00\(decimals)Z" }
            try await expectRows(
                fixture, mapping,
                Self.guide(["a": second(""), "b": second(".25"), "c": second(".5"), "d": second(".75")]),
                ["a", "b", "c", "d"])
            // "a" and "b" have left it, "d" was withdrawn.
            try await expectRows(fixture, mapping, Self.guide(["c": second(".5")]), ["a", "b", "c"])
            // "b" and "c" were withdrawn within it.
            try await expectRows(fixture, mapping, Self.guide(["a": second("")]), ["a"])
        }
    }

    @Test(.onEachStore) func whatLeavesTheWindowStays() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping("")
            try await expectRows(
                fixture, mapping,
                Self.guide(["a": "2026-01-01T00:00:00Z", "b": "2026-01-02T00:00:00Z", "c": "2026-01-03T00:00:00Z"]),
                ["a", "b", "c"])
            // "a" has left it, "c" was withdrawn.
            try await expectRows(
                fixture, mapping, Self.guide(["b": "2026-01-02T00:00:00Z", "d": "2026-01-04T00:00:00Z"]),
                ["a", "b", "d"])
            // Without a record there is no window.
            try await expectRows(fixture, mapping, "<guide/>", ["a", "b", "d"])
            #expect(
                try fixture.rows("SELECT key, operation FROM tributary_change WHERE operation = 'delete'")
                    == ["c|delete"])
        }
    }

    @Test(.onEachStore) func aWindowOfNumbersIsComparedAsNumbers() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping("", type: "integer")
            try await expectRows(fixture, mapping, Self.guide(["a": "8", "b": "9", "c": "10"]), ["a", "b", "c"])
            try await expectRows(fixture, mapping, Self.guide(["b": "9", "d": "11"]), ["a", "b", "d"])
        }
    }

    @Test(.onEachStore) func eachScopeHasAWindowOfItsOwn() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let one = Self.mapping("scope = { channel = \"1\" }", type: "integer")
            let two = Self.mapping("scope = { channel = \"2\" }", type: "integer")
            try await expectRows(fixture, one, Self.guide(["a": "1", "b": "2"]), ["a", "b"])
            try await expectRows(fixture, two, Self.guide(["c": "1", "d": "2"]), ["a", "b", "c", "d"])
            try await expectRows(fixture, two, Self.guide(["e": "2"]), ["a", "b", "c", "e"])
        }
    }

    /// A row without a value is neither within nor below.
    @Test(.onEachStore) func rowsWithoutAValueStay() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping("", type: "integer")
            try await expectRows(fixture, mapping, Self.guide(["a": "", "b": "2"]), ["a", "b"])
            try await expectRows(fixture, mapping, Self.guide(["b": "", "c": "1"]), ["a", "b", "c"])
        }
    }

    @Test(.onEachStore) func aClassMirrorsAWindowToo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func items(_ sizes: KeyValuePairs<String, Int>) -> String {
                "<items>" + sizes.map { "<item id='\($0.key)'><size>\($0.value)</size></item>" }.joined() + "</items>"
            }
            let source = EngineFixture.request("/a", "sync = \"mirror\"\nwindow = \"size\"")
            fixture.server.document("/a", items(["a": 1, "b": 2, "c": 3]))
            try await fixture.sync(source)
            fixture.server.document("/a", items(["b": 2]))
            #expect(try await fixture.sync(source).first?.error == nil)
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["a", "b"])
        }
    }

    /// Children follow their parents: those of parents that have left the window stay with them, those of parents that
    /// were withdrawn go first.
    @Test(.onEachStore, arguments: ["", "within = \"day\""])
    func childrenAreInTheWindowOfTheirParents(options: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = """
                [[sources.s.requests]]
                url = "URL/days"
                sync = "mirror"
                [[sources.s.requests.tables]]
                table = "day"
                element = "day"
                key = ["id"]
                window = "date"
                columns = { id = "@id", date = { path = "@date", type = "date" } }
                [[sources.s.requests.tables]]
                table = "show"
                element = "show"
                key = ["day", "title"]
                \(options)
                columns = { day = { parent = "day" }, title = "@title" }
                """
            func days(_ days: KeyValuePairs<String, [String]>) -> String {
                "<days>"
                    + days.map { day, shows in
                        "<day id='d\(day)' date='2026-01-0\(day)'>" + shows.map { "<show title='\($0)'/>" }.joined()
                            + "</day>"
                    }.joined() + "</days>"
            }
            fixture.server.document("/days", days(["1": ["a"], "2": ["a", "b"], "3": ["a"]]))
            #expect(try await fixture.sync(mapping).first?.error == nil)
            // The first day has left the window, the third was withdrawn, and of the second one show.
            fixture.server.document("/days", days(["2": ["b"]]))
            #expect(try await fixture.sync(mapping).first?.error == nil)
            #expect(try fixture.rows("SELECT id FROM day ORDER BY id") == ["d1", "d2"])
            #expect(try fixture.rows("SELECT day, title FROM show ORDER BY 1, 2") == ["d1|a", "d2|b"])
            // The date of a day moves into the window, and one of its shows is withdrawn.
            fixture.server.document("/days", days(["2": ["b", "c"]]))
            #expect(try await fixture.sync(mapping).first?.error == nil)
            fixture.server.document("/days", days(["2": ["b"]]).replacing("2026-01-02", with: "2026-01-09"))
            #expect(try await fixture.sync(mapping).first?.error == nil)
            #expect(try fixture.rows("SELECT day, title FROM show ORDER BY 1, 2") == ["d1|a", "d2|b"])
        }
    }

    /// Nothing is deleted for a window that nobody has.
    @Test(.onEachStore, arguments: ["nope", "size"])
    func aWindowThatTheTableLacksDiscardsTheRun(window: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = """
                [[sources.s.requests]]
                url = "URL/a"
                tables = [{ table = "item", element = "item", key = ["id"], sync = "mirror", window = "\(window)" }]
                """
            fixture.server.document("/a", "<items><item id='1' size='1'/><item id='2' size='2'/></items>")
            let report = try await fixture.sync(mapping).first
            #expect((report?.outcome == .committed) == (window == "size"), "\(String(describing: report))")
            let parser = EngineFixture.request("/a", "sync = \"mirror\"\nwindow = \"\(window)\"")
            let other = try await fixture.sync(parser).first
            #expect((other?.error?.contains("which 'window' names") ?? false) == (window == "nope"))
        }
    }

    @Test(arguments: [
        ("window = \"begin\"", "'begin' is not a column"),
        ("window = \"id\"\nsync = \"upsert\"", "requires sync = \"mirror\""),
    ])
    func aWindowThatCannotBeIsRefused(options: String, expected: String) async throws {
        try await EngineFixture.expectMistake(
            """
            [[sources.s.requests]]
            url = "URL/guide"
            [[sources.s.requests.tables]]
            table = "programme"
            element = "p"
            key = ["id"]
            columns = { id = "@id" }
            \(options)
            """, expected)
    }

    /// The feed goes back to a record that has expired; what was withdrawn after it is gone.
    @Test(.onEachStore) func expiredRecordsBelongToTheWindow() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping =
                Self.mapping("").replacing(
                    "window = \"start\"", with: "window = \"start\"\nexpire = { column = \"start\", after = \"30d\" }")
            func sync(_ programmes: KeyValuePairs<String, String>) async throws -> [String] {
                fixture.server.document("/guide", Self.guide(programmes))
                #expect(try await fixture.sync(mapping, clock: fixture.clock).first?.error == nil)
                return try fixture.rows("SELECT id FROM programme ORDER BY id")
            }
            // The clock begins at 2027-01-15.
            let (old, first, second) = ("2020-01-01T00:00:00Z", "2027-01-10T00:00:00Z", "2027-01-14T00:00:00Z")
            #expect(try await sync(["o": old, "a": first, "b": second]) == ["a", "b"])
            #expect(try await sync(["b": second]) == ["a", "b"])
            #expect(try await sync(["o": old, "b": second]) == ["b"])
            #expect(try await sync(["o": old]) == [])
        }
    }
}
