import FeedConfiguration
import FeedExporting
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Times without an offset, in the zone that the source or the column names.
@Suite struct TimeZoneTests {
    private func sync(
        _ fixture: EngineFixture, _ document: String, source: String = "", column: String = "", format: String? = nil
    ) async throws {
        fixture.server.document("/a", document)
        let format = format.map { ", format = \"\($0)\"" } ?? ""
        try await fixture.sync(
            """
            [sources.s]
            \(source)
            [[sources.s.requests]]
            url = "URL/a"
            sync = "mirror"
            [[sources.s.requests.tables]]
            table = "event"
            element = "e"
            key = ["id"]
            [sources.s.requests.tables.columns]
            id = "@id"
            at = { path = "@at", type = "datetime"\(format)\(column) }
            day = { path = "@at", type = "date"\(format) }
            """)
    }

    private func times(_ fixture: EngineFixture) throws -> [String] {
        try fixture.rows("SELECT id, at, day FROM event ORDER BY id")
    }

    private static let document = """
        <r><e id="1" at="2026-01-15T12:00:00"/><e id="2" at="2026-07-15 12:00"/><e id="3" at="2026-07-15T12:00:00+05:00"/>
        <e id="4" at="2026-07-15T12:00:00Z"/><e id="5" at="2026-03-29T02:30:00"/><e id="6" at="2026-10-25T02:30:00"/>
        <e id="7" at="2026-07-15"/></r>
        """

    @Test func aTimeWithoutAnOffsetIsInTheZone() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await sync(fixture, Self.document)
            #expect(try times(fixture)[0] == "1|2026-01-15T12:00:00Z|2026-01-15")
            let berlin = [
                "1|2026-01-15T11:00:00Z|2026-01-15", "2|2026-07-15T10:00:00Z|2026-07-15",
                "3|2026-07-15T07:00:00Z|2026-07-15", "4|2026-07-15T12:00:00Z|2026-07-15",
                // 02:30 is skipped, and becomes 03:30.
                "5|2026-03-29T01:30:00Z|2026-03-29",
                // 02:30 comes twice; the first counts.
                "6|2026-10-25T00:30:00Z|2026-10-25", "7|2026-07-14T22:00:00Z|2026-07-15",
            ]
            try await sync(fixture, Self.document, source: "time_zone = \"Europe/Berlin\"")
            #expect(try times(fixture) == berlin)
            try await sync(fixture, Self.document, column: ", time_zone = \"Europe/Berlin\"")
            #expect(try times(fixture) == berlin)
            try await sync(
                fixture, Self.document, source: "time_zone = \"Asia/Tokyo\"", column: ", time_zone = \"UTC\"")
            #expect(try times(fixture)[0] == "1|2026-01-15T12:00:00Z|2026-01-15")
        }
    }

    /// A 304 would keep the rows of the other zone.
    @Test func anotherZoneIsAnotherDeclaration() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func fingerprint(_ source: String) throws -> String {
                let request =
                    "[[sources.s.requests]]\nurl = \"URL/a\"\n"
                    + "tables = [{ table = \"t\", element = \"e\", columns = { a = { path = \"@a\", type = \"datetime\" } } }]\n"
                let configuration = try fixture.configuration("[sources.s]\n\(source)\n\(request)")
                return try #require(configuration.sources.first?.requests.first).validity(parserVersion: 1)
            }
            let prints = try Set(["", "time_zone = \"Europe/Berlin\"", "time_zone = \"Asia/Tokyo\""].map(fingerprint))
            #expect(prints.count == 3)
            #expect(try fingerprint("") == fingerprint("time_zone = \"UTC\""))
        }
    }

    @Test(.onEachStore) func exportsAreReadAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = """
                [sources.s]
                time_zone = "Europe/Berlin"
                [[sources.s.requests]]
                url = "URL/a"
                tables = [{ table = "event", element = "/r/e", key = ["id"], columns = { id = "@id", at = { path = "@at", type = "datetime", format = "%d.%m.%Y %H:%M" } } }]
                """
            let document = "<r><e id=\"1\" at=\"15.07.2026 12:00\"/></r>"
            fixture.server.document("/a", document)
            try await fixture.sync(sources)
            var exported = ""
            try fixture.exporter(fixture.configuration(sources)).export {
                exported += String(decoding: $0, as: UTF8.self)
            }
            #expect(exported.contains("at=\"15.07.2026 12:00\""), "\(exported)")
        }
    }
}
