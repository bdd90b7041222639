import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Pages that a response names, and that the request does not follow.
@Suite struct FurtherPageTests {
    private static func source(_ options: String) -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        tables = [{ table = "t", element = "/json/data", key = ["id"], columns = { id = "id" } }]
        \(options)
        """
    }

    private static let token = "page = { token = \"/json/meta/next_cursor\", parameter = \"c\" }"

    /// Serves pages of one record each, as a publisher that names the cursor by `cursor`.
    private func serve(_ fixture: EngineFixture, pages: Int, cursor: String, lastCursor: String = "") {
        fixture.server.route("/a") { request in
            let page = request.query.split(separator: "=").last.flatMap { Int($0) } ?? 1
            let meta = page < pages ? "\"\(cursor)\": \"\(page + 1)\"" : lastCursor
            return StubServer.response(
                200, "{\"data\": [{\"id\": \"\(page)\"}], \"meta\": {\(meta)}}", ["Content-Type": "application/json"])
        }
    }

    /// The publisher renames the cursor, and the rows of all other pages were never asked for.
    @Test(.onEachStore) func aMirrorThatMissesAPageDeletesNothing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source("sync = \"mirror\"\n" + Self.token)
            serve(fixture, pages: 3, cursor: "next_cursor")
            #expect(try await fixture.sync(source).first?.counts.inserted == 3)
            serve(fixture, pages: 3, cursor: "nextCursor")
            let report = try #require(try await fixture.sync(source).first)
            #expect(report.outcome == .discarded && report.counts.deleted == 0, "\(report)")
            #expect(
                report.error?.hasSuffix(
                    "/a: the response has no '/json/meta/next_cursor' and names a further page at /json/meta/nextCursor, and "
                        + "mirroring this page alone would delete the rows of the others; correct page.token") == true,
                "\(report)")
            #expect(try fixture.rows("SELECT count(*) FROM t") == ["3"])
            let corrected = source.replacing("next_cursor", with: "nextCursor")
            #expect(try await fixture.sync(corrected).first?.counts.unchanged == 3)
        }
    }

    /// Each response of a `for_each` has its own first page.
    @Test func aMirrorForEachRowDeletesNothing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let numbers = """
                [[sources.s.requests]]
                url = "URL/numbers"
                tables = [{ table = "number", element = "/json/item", key = ["n"], columns = { n = "." } }]

                """
            let source = Self.source(
                "sync = \"mirror\"\nfor_each = \"SELECT n FROM staged.number\"\nparameters = { n = \"${row:n}\" }\n"
                    + Self.token)
            fixture.server.document("/numbers", "[1, 2]")
            fixture.server.document("/a", "{\"data\": [{\"id\": \"1\"}], \"meta\": {\"nextCursor\": \"c\"}}")
            let report = try #require(try await fixture.sync(numbers + source).first)
            #expect(report.outcome == .discarded, "\(report)")
            #expect(report.error?.contains("item 1 of 2") == true, "\(report)")
        }
    }

    /// A page or an item that is an error with the status 200 is no empty one: its rows would be deleted.
    @Test(arguments: [
        ("{\"error\": \"busy\"}", RunOutcome.discarded), ("<html><body>busy</body></html>", .discarded),
        ("{\"data\": []}", .committed), ("{\"data\": [], \"meta\": {}}", .committed), ("{}", .committed),
    ])
    func aResponseOfAnotherKind(body: String, outcome: RunOutcome) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let numbers = """
                [[sources.s.requests]]
                url = "URL/numbers"
                tables = [{ table = "number", element = "/json/item", key = ["n"], columns = { n = "." } }]

                """
            let mirror = "sync = \"mirror\"\nmax_deleted = \"100%\"\n"
            let items = Self.source(
                mirror + "for_each = \"SELECT n FROM staged.number\"\nparameters = { c = \"${row:n}\" }")
            fixture.server.document("/numbers", "[1, 2, 3]")
            for source in [numbers + items, Self.source(mirror + Self.token)] {
                let isPaged = source.contains("page = ")
                serve(fixture, pages: isPaged ? 3 : 0, cursor: "next_cursor")
                #expect(try await fixture.sync(source, mode: .full).first?.outcome == .committed)
                #expect(try fixture.rows("SELECT id FROM t ORDER BY id") == ["1", "2", "3"])
                fixture.server.route("/a") { request in
                    let page = request.query.split(separator: "=").last.flatMap { Int($0) } ?? 1
                    let meta = isPaged ? "\"next_cursor\": \"\(page + 1)\"" : ""
                    let usual = "{\"data\": [{\"id\": \"\(page)\"}], \"meta\": {\(meta)}}"
                    let isHTML = body.hasPrefix("<") && page == 2
                    return StubServer.response(
                        200, page == 2 ? body : usual, ["Content-Type": isHTML ? "text/html" : "application/json"])
                }
                let report = try #require(try await fixture.sync(source, mode: .full).first)
                #expect(report.outcome == outcome, "\(report)")
                let rows = outcome == .discarded ? ["1", "2", "3"] : isPaged ? ["1"] : ["1", "3"]
                #expect(try fixture.rows("SELECT id FROM t ORDER BY id") == rows, "\(report)")
            }
        }
    }

    @Test(.onEachStore) func aRunNotesTheFurtherPage() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let note =
                "the response has no '/json/meta/next_cursor' and names a further page at /json/meta/nextCursor; "
                + "correct page.token"
            serve(fixture, pages: 3, cursor: "nextCursor")
            let report = try #require(try await fixture.sync(Self.source(Self.token)).first)
            #expect(report.outcome == .committed && report.note == "request '1': " + note, "\(report)")
            #expect(report.requests.map(\.note) == [note])
            let service = try fixture.service(Self.source(Self.token), clock: SystemClock())
            defer { try? service.store.close() }
            #expect(
                try service.store.read { try $0.runs.last(of: "s", limit: 1) }.first?.requests.map(\.note) == [note])
            #expect(try fixture.rows("SELECT note FROM tributary_source") == ["request '1': " + note])
        }
    }

    @Test func aRunNotesAPageThatNothingFollows() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, pages: 2, cursor: "next_cursor")
            let report = try #require(try await fixture.sync(Self.source("sync = \"mirror\"")).first)
            #expect(
                report.note
                    == "request '1': the response names a further page, at /json/meta/next_cursor, and only the first one "
                    + "is read; page = { token = \"/json/meta/next_cursor\", parameter = \"…\" } follows the pages",
                "\(report)")
        }
    }

    /// The last page has no token, and a record may have a member of any name.
    @Test(arguments: [
        "{\"data\": [{\"id\": \"1\"}], \"meta\": {\"next_cursor\": \"\", \"nextCursor\": \"c\"}}",
        "{\"data\": [{\"id\": \"1\"}], \"meta\": {\"next_cursor\": null}}",
        "{\"data\": [{\"id\": \"1\"}]}",
        "{\"data\": [{\"id\": \"1\", \"next\": \"c\", \"continuation\": \"c\"}]}",
        "{\"data\": [{\"id\": \"1\", \"links\": {\"next\": {\"href\": \"/b\"}}}], \"has_more\": false}",
    ])
    func aSinglePageIsMirrored(document: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", document)
            let report = try #require(try await fixture.sync(Self.source("sync = \"mirror\"\n" + Self.token)).first)
            #expect(report.outcome == .committed && report.note == nil, "\(report)")
        }
    }

    /// A column may be read from an element of such a name, whatever the number of its records.
    @Test(arguments: [1, 50])
    func columnsOfSuchNamesAreRead(records: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let items = (1...records).map { "<i><id>\($0)</id><link>l\($0)</link><next>n</next></i>" }.joined()
            let links = String(repeating: "<link/>", count: 30)
            fixture.server.document("/a", "<r><link>top</link>\(links)<next>1</next>\(items)</r>")
            let report = try await fixture.sync(
                """
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "t"
                element = "i"
                key = ["id"]
                columns = { id = "id", link = "link", next = "next", top = "../next", first = "../link" }
                """)
            #expect(report.first?.counts.inserted == records, "\(report)")
            #expect(
                try fixture.rows(
                    "SELECT count(*) FROM t WHERE link = 'l' || id AND next = 'n' AND top = '1' AND first = 'top'")
                    == ["\(records)"])
        }
    }

    @Test(.onEachStore) func aListOfOnePageThatHadSeveralIsNotedOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source("sync = \"mirror\"\nkeep_bodies = 1\n" + Self.token)
            serve(fixture, pages: 3, cursor: "next_cursor")
            #expect(try await fixture.sync(source).first?.note == nil)
            // A replay reads the pages without the requests for them.
            #expect(try await fixture.replay(source).outcome == .committed)
            // A name that nothing knows.
            serve(fixture, pages: 3, cursor: "weiter")
            let report = try #require(try await fixture.sync(source, mode: .full).first)
            #expect(
                report.note
                    == "request '1': the only page has no '/json/meta/next_cursor', and the last commit had 3 pages; "
                    + "correct page.token, unless the list is shorter now", "\(report)")
            #expect(try await fixture.sync(source, mode: .full).first?.note == nil)
            // An empty token marks the last page.
            serve(fixture, pages: 3, cursor: "next_cursor")
            #expect(try await fixture.sync(source, mode: .full).first?.note == nil)
            serve(fixture, pages: 1, cursor: "next_cursor", lastCursor: "\"next_cursor\": \"\"")
            #expect(try await fixture.sync(source, mode: .full).first?.note == nil)
        }
    }
}
