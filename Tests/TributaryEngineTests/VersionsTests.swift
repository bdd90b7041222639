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

/// `keep_history` with a duration: the view of the versions of rows.
@Suite(.onEachStore) struct VersionsTests {
    private static let versions =
        "SELECT id, name, run, CASE WHEN valid_to IS NULL THEN 'present' ELSE 'past' END FROM thing_versions ORDER BY id, run"

    private static func source(
        _ keep: String = "\"100d\"", columns: String = "id = \"@id\", name = \"@name\"", name: String = "s",
        options: String = "sync = \"mirror\"\nmax_deleted = \"100%\"\nallow_empty = true", table: String = "thing"
    ) -> String {
        """
        [sources.\(name)]
        keep_history = \(keep)
        [[sources.\(name).requests]]
        url = "URL/\(name)"
        \(options)
        [[sources.\(name).requests.tables]]
        table = "\(table)"
        element = "item"
        key = ["id"]
        columns = { \(columns) }

        """
    }

    private static func items(_ names: [String: String], _ attributes: String = "") -> String {
        let items = names.sorted { $0.key < $1.key }.map { "<item id='\($0)' name='\($1)' \(attributes)/>" }
        return "<items>\(items.joined())</items>"
    }

    @discardableResult
    private func sync(
        _ fixture: EngineFixture, _ sources: String, _ name: String = "s", document: String
    ) async throws -> RunReport? {
        fixture.server.document("/\(name)", document)
        let report = try await fixture.sync(sources, [name], clock: fixture.clock).first
        fixture.clock.advance(by: 3600)
        return report
    }

    private func load(_ fixture: EngineFixture, _ names: [String: String]) async throws {
        #expect(try await sync(fixture, Self.source(), document: Self.items(names))?.error == nil)
    }

    @Test func eachVersionHasItsTime() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let began = fixture.clock.now()
            try await load(fixture, ["1": "a", "2": "b"])
            try await load(fixture, ["1": "A"])
            try await load(fixture, ["1": "A", "2": "again"])
            #expect(
                try fixture.rows(Self.versions) == [
                    "1|a|1|past", "1|A|2|present", "2|b|1|past", "2|again|3|present",
                ])
            /// Returns the rows at an hour after the beginning.
            func names(_ hours: Double) throws -> [String] {
                let time = StoreDate.text(began + hours * 3600)
                return try fixture.rows(
                    """
                    SELECT name FROM thing_versions
                    WHERE valid_from <= '\(time)' AND (valid_to > '\(time)' OR valid_to IS NULL) ORDER BY id
                    """)
            }
            #expect(try names(-0.5) == [])
            #expect(try names(0.5) == ["a", "b"])
            #expect(try names(1.5) == ["A"])
            #expect(try names(2.5) == ["A", "again"])
        }
    }

    /// Rows from before the history, and rows that another program has written.
    @Test func unknownBeginningsAreNull() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let bare = Self.source("false")
            #expect(try await sync(fixture, bare, document: Self.items(["1": "a", "2": "b"]))?.error == nil)
            try await load(fixture, ["1": "A", "2": "b"])
            #expect(
                try fixture.rows(
                    "SELECT name, run, CASE WHEN valid_from IS NULL THEN 1 END FROM thing_versions ORDER BY id, run"
                )
                .sorted() == ["A|2|NULL", "a|NULL|1", "b|NULL|1"])
            try await load(fixture, ["1": "A"])
            try fixture.store.execute("INSERT INTO thing (id, name) VALUES ('2', 'other')")
            #expect(
                try fixture.rows(
                    "SELECT name, run, CASE WHEN valid_to IS NULL THEN 1 END FROM thing_versions WHERE id = '2'"
                )
                .sorted() == ["b|NULL|NULL", "other|NULL|1"])
        }
    }

    @Test func anUndoBeginsVersions() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await load(fixture, ["1": "a"])
            try await load(fixture, ["1": "b"])
            let configuration = try fixture.configuration(Self.source())
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            defer { try? store.close() }
            _ = try await UndoRun(
                "s", to: .lastChange, in: store, declaration: configuration[source: "s"],
                parsers: EngineFixture.registry
            ).run()
            #expect(try fixture.rows(Self.versions) == ["1|a|1|past", "1|b|2|past", "1|a|3|present"])
        }
    }

    @Test func columnsThatTheTableGains() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await load(fixture, ["1": "a"])
            // A view of a user's, which stays.
            try fixture.store.execute("CREATE VIEW names AS SELECT name FROM thing_versions")
            let more = Self.source(columns: "id = \"@id\", name = \"@name\", color = \"@color\"")
            #expect(try await sync(fixture, more, document: Self.items(["1": "a"], "color='red'"))?.error == nil)
            #expect(
                try fixture.rows("SELECT name, color, run FROM thing_versions ORDER BY run") == ["a|NULL|1", "a|red|2"])
            #expect(try fixture.rows("SELECT count(*) FROM names") == ["2"])
        }
    }

    /// A column of the table keeps its name; the view's own gets another one.
    @Test func columnsWithTheNamesOfTheViews() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await load(fixture, ["1": "a"])
            let more = Self.source(columns: "id = \"@id\", name = \"@name\", run = \"@run\"")
            #expect(try await sync(fixture, more, document: Self.items(["1": "b"], "run='fast'"))?.error == nil)
            #expect(
                try fixture.rows("SELECT name, run, tributary_run FROM thing_versions ORDER BY valid_from")
                    == ["a|NULL|1", "b|fast|2"])
        }
    }

    /// The history ends with the types of its columns, and its view with it.
    @Test func columnsOfAnotherType() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func source(_ type: String) -> String {
                Self.source(columns: "id = \"@id\", name = { path = \"@name\", type = \"\(type)\" }")
            }
            #expect(try await sync(fixture, source("text"), document: Self.items(["1": "5"]))?.error == nil)
            let configuration = try fixture.configuration(source("integer"))
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            let declaration = try #require(configuration[source: "s"])
            _ = try declaration.migrate(store, in: configuration, parsers: EngineFixture.registry, at: Date())
            try store.close()
            #expect(try await sync(fixture, source("integer"), document: Self.items(["1": "6"]))?.error == nil)
            #expect(
                try fixture.rows("SELECT name + 1, run FROM thing_versions ORDER BY run").sorted() == ["6|NULL", "7|2"])
        }
    }

    @Test func aDroppedViewComesBack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await load(fixture, ["1": "a"])
            try fixture.store.execute("DROP VIEW thing_versions")
            try await load(fixture, ["1": "b"])
            #expect(try fixture.rows(Self.versions) == ["1|a|1|past", "1|b|2|present"])
        }
    }

    /// A history outlives the runs of its table; others do not.
    @Test func theHistoryOutlivesItsRuns() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let both = "history = \"1h\"\n" + Self.source("\"1d\"") + Self.source("true", name: "t", table: "other")
            for name in ["a", "b", "c"] {
                for source in ["s", "t"] {
                    #expect(try await sync(fixture, both, source, document: Self.items(["1": name]))?.error == nil)
                }
            }
            fixture.clock.advance(by: 7200)
            try await sync(fixture, both, "t", document: Self.items(["1": "d"]))
            #expect(try fixture.rows("SELECT count(*) FROM tributary_run WHERE id < 6") == ["0"])
            let versions = "SELECT name, CASE WHEN valid_from IS NULL THEN 1 END FROM thing_versions ORDER BY run"
            #expect(try fixture.rows(versions) == ["a|NULL", "b|NULL", "c|NULL"])
            #expect(try fixture.rows("SELECT count(*) FROM tributary_history_other WHERE tributary_run < 6") == ["0"])
            fixture.clock.advance(by: 86_400)
            try await sync(fixture, both, "t", document: Self.items(["1": "e"]))
            #expect(try fixture.rows(versions) == ["c|1"])
        }
    }

    @Test func aTableThatHasTheNameOfTheView() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await sync(fixture, Self.source("true"), document: Self.items(["1": "a"]))
            try fixture.store.execute("CREATE TABLE thing_versions (id integer)")
            let report = try await sync(fixture, Self.source(), document: Self.items(["1": "b"]))
            #expect(
                report?.error?.contains("the view 'thing_versions', which would show the versions of table 'thing'")
                    == true)
            #expect(try fixture.rows("SELECT name FROM thing") == ["a"])
        }
    }

    /// Only the first commit with changes makes it.
    @Test func aPlanNamesTheView() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", Self.items(["1": "a"]))
            let note = ["the commit creates the view 'thing_versions', which shows the versions of rows"]
            #expect(try await notes(fixture) == note)
            try await load(fixture, ["1": "a"])
            #expect(try await notes(fixture) == [])
            fixture.server.document("/s", Self.items(["1": "b"]))
            #expect(try await notes(fixture) == [])
        }
    }

    private func notes(_ fixture: EngineFixture) async throws -> [String] {
        let service = try fixture.service(Self.source(), clock: fixture.clock)
        let source = try #require(try fixture.configuration(Self.source())[source: "s"])
        let plan = try await service.plan(source) { _ in }
        try service.store.close()
        return plan.notes
    }

    @Test func aKeyIsFoundByTheIndexes() async throws {
        // A server reads tables of a few rows as a whole.
        guard StoreKind.current == .sqlite else { return }
        try await EngineFixture.with { (fixture) async throws in
            try await load(fixture, ["1": "a"])
            let plan = try fixture.rows("EXPLAIN QUERY PLAN SELECT * FROM thing_versions WHERE id = '1'").joined(
                separator: "\n")
            #expect(plan.contains("SEARCH h USING INDEX"))
            #expect(plan.contains("SEARCH m USING INDEX"))
            #expect(!plan.contains("SCAN h") && !plan.contains("SCAN m") && !plan.contains("SCAN p"))
        }
    }

    @Test func mistakesInTheDeclaration() async throws {
        try await EngineFixture.expectMistake(
            Self.source("\"30d\""), "'30d' is shorter than history = \"90d\" of [store], for which runs are kept")
        try await EngineFixture.expectMistake(Self.source("1"), "expected true, false or a duration such as \"3y\"")
        try await EngineFixture.expectMistake(
            Self.source("\"3y\"") + Self.source("false", name: "t", table: "Thing_versions"),
            "the view 'thing_versions', which would show the versions of table 'thing', has the name of another table")
    }
}
