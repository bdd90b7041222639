import FeedConfiguration
import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Items of a `for_each` whose answer is missing or does not parse, and servers that ask for a wait among them.
@Suite struct LeftOutItemTests {
    private static func stack(
        _ each: String = "on_error = \"skip\"", _ options: String = "sync = \"mirror\"\nallow_empty = true"
    ) -> String {
        """
        [[sources.s.requests]]
        url = "URL/companies"
        parser = "CompaniesParser"
        sync = "mirror"
        [[sources.s.requests]]
        key = "items"
        url = "URL/items/${row:id}"
        parser = "ItemsParser"
        for_each = { rows = "SELECT id FROM staged.company ORDER BY id"\(each.isEmpty ? "" : ", " + each) }
        \(options)
        """
    }

    private func serve(_ ids: [String], on fixture: EngineFixture) {
        let companies = ids.map { "<company id='\($0)' name='n'/>" }.joined()
        fixture.server.document("/companies", "<companies>\(companies)</companies>")
        for id in ids {
            fixture.server.document(
                "/items/\(id)", "<items><item id='\(id)1' company='\(id)'/><item id='\(id)2' company='\(id)'/></items>")
        }
    }

    private func sync(
        _ fixture: EngineFixture, _ stack: String = Self.stack(), clock: (any RunClock)? = nil
    ) async throws -> RunReport {
        try #require(try await fixture.sync(stack, clock: clock).first)
    }

    @Test(arguments: [404, 410]) func anItemThatIsGoneIsLeftOutAndNamed(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(["a", "b", "c"], on: fixture)
            fixture.server.route("/items/b") { _ in StubServer.response(status, "") }
            let report = try await sync(fixture)
            #expect(report.outcome == .committed && report.error == nil, "\(report)")
            let note = report.note ?? ""
            #expect(note.contains("request 'items': 1 item was left out"), "\(note)")
            #expect(note.contains("item 2 of 3 (id = b): GET \(fixture.server.url)/items/b: "), "\(note)")
            #expect(note.contains("\(status)"), "\(note)")
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["a1", "a2", "c1", "c2"])
            // A 410 of an item is not one of the source: it is asked again.
            serve(["a", "b", "c"], on: fixture)
            #expect(try await sync(fixture).counts.inserted == 2)
        }
    }

    /// A document that breaks off after its first record stages none.
    @Test(arguments: [1, 3]) func aDocumentThatDoesNotParseStagesNothing(concurrency: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(["a", "b", "c"], on: fixture)
            fixture.server.document("/items/b", "<items><item id='b1' company='b'/><item id='b2'")
            fixture.server.document("/items/c", "<items><item id='c1' company='c'/><item id=c2></items>")
            let report = try await sync(
                fixture, Self.stack("on_error = \"skip\"", "sync = \"mirror\"\nconcurrency = \(concurrency)"))
            #expect(report.outcome == .committed, "\(report)")
            #expect(report.note?.contains("2 items were left out") == true, "\(report)")
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["a1", "a2"])
        }
    }

    /// Rows of an item that is left out, and any others of its table, stay until a run has all items.
    @Test(.onEachStore) func aMirrorDeletesNothingWhileAnItemIsMissing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(["a", "b"], on: fixture)
            #expect(try await sync(fixture).counts.inserted == 6)
            fixture.server.document("/items/a", "<items><item id='a1' company='a'/></items>")
            fixture.server.route("/items/b") { _ in StubServer.response(404, "") }
            let report = try await sync(fixture)
            #expect(report.outcome == .committed && report.counts.deleted == 0, "\(report)")
            #expect(report.note?.contains("no row of table 'item' was deleted") == true, "\(report)")
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["a1", "a2", "b1", "b2"])
            // All items are missing: still nothing is deleted.
            fixture.server.route("/items/a") { _ in StubServer.response(404, "") }
            let none = try await sync(fixture, Self.stack("on_error = \"skip\"", "sync = \"mirror\""))
            #expect(none.outcome == .committed && none.counts.deleted == 0, "\(none)")
            fixture.server.document("/items/a", "<items><item id='a1' company='a'/></items>")
            fixture.server.document("/items/b", "<items><item id='b1' company='b'/></items>")
            let whole = try await sync(fixture)
            #expect(whole.counts.deleted == 2 && whole.note == nil, "\(whole)")
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["a1", "b1"])
        }
    }

    /// Another request of the stack mirrors the table, and does not have the rows of the item.
    @Test(.onEachStore) func noOtherRequestDeletesTheRows() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(["a"], on: fixture)
            fixture.server.document("/more", EngineFixture.items(["m1", "m2"]))
            let stack =
                Self.stack("on_error = \"skip\"", "sync = \"upsert\"") + "\n"
                + EngineFixture.request("/more", "sync = \"mirror\"")
            #expect(try await sync(fixture, stack).counts.inserted == 5)
            fixture.server.route("/items/a") { _ in StubServer.response(410, "") }
            fixture.server.document("/more", EngineFixture.items(["m1"]))
            let report = try await sync(fixture, stack)
            #expect(report.outcome == .committed && report.counts.deleted == 0, "\(report)")
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["a1", "a2", "m1", "m2"])
        }
    }

    /// A request for each row of the rows that an item would have given is not sent for these.
    @Test func rowsOfLaterRequestsStay() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(["a", "b"], on: fixture)
            for id in ["a1", "a2", "b1", "b2"] {
                fixture.server.document("/details/\(id)", "<l><d id='\(id)' text='t'/></l>")
            }
            let stack =
                Self.stack() + """

                    [[sources.s.requests]]
                    url = "URL/details/${row:id}"
                    for_each = "SELECT id FROM staged.item ORDER BY id"
                    sync = "mirror"
                    tables = [{ table = "detail", element = "d", key = ["id"], columns = { id = "@id", text = "@text" } }]
                    """
            #expect(try await sync(fixture, stack).outcome == .committed)
            fixture.server.route("/items/b") { _ in StubServer.response(404, "") }
            #expect(try await sync(fixture, stack).outcome == .committed)
            #expect(try fixture.rows("SELECT id FROM detail ORDER BY id") == ["a1", "a2", "b1", "b2"])
        }
    }

    @Test func moreThanMayBeLeftOutDiscardTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(["a", "b", "c"], on: fixture)
            for id in ["a", "c"] { fixture.server.route("/items/\(id)") { _ in StubServer.response(404, "") } }
            let skip = "on_error = \"skip\", max_skipped = "
            let report = try await sync(fixture, Self.stack(skip + "1"))
            #expect(report.outcome == .discarded, "\(report)")
            let error = report.error ?? ""
            #expect(error.contains("request 'items', item 3 of 3 (id = c): "), "\(error)")
            #expect(error.contains("max_skipped = 1"), "\(error)")
            #expect(try await sync(fixture, Self.stack(skip + "2")).outcome == .committed)
            // Without `on_error`, one is too many; and another status always is.
            #expect(try await sync(fixture, Self.stack("")).outcome == .discarded)
            fixture.server.route("/items/a") { _ in StubServer.response(500, "") }
            #expect(try await sync(fixture, Self.stack(skip + "9")).error?.contains("500") == true)
        }
    }

    // MARK: - Waits

    @Test(.timeLimit(.minutes(10)), arguments: [429, 503])
    func aServerThatAsksForAWaitIsObeyed(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(["a", "b"], on: fixture)
            let server = fixture.server
            server.route("/items/b") { [unowned server] _ in
                server.requests("/items/b").count < 3
                    ? StubServer.response(status, "", ["Retry-After": "1"])
                    : StubServer.response(200, "<items><item id='b1' company='b'/></items>")
            }
            let report = try await sync(fixture, Self.stack(""))
            #expect(report.outcome == .committed && report.counts.inserted == 5, "\(report)")
            #expect(server.requests("/items/b").count == 3)
        }
    }

    @Test func aLongWaitDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(["a"], on: fixture)
            fixture.server.route("/items/a") { _ in StubServer.response(503, "", ["Retry-After": "301"]) }
            let report = try await sync(fixture, Self.stack(""))
            #expect(report.outcome == .discarded && report.error?.contains("503") == true, "\(report)")
            #expect(fixture.server.requests("/items/a").count == 1)
        }
    }

    @Test func waitsAreBounded() {
        var waits = RequestedWaits()
        func grants(_ end: Double, at time: Double) -> Bool {
            waits.note(.seconds(end - time), now: .seconds(time))
        }
        // The same wait once more costs nothing.
        let first = [grants(301, at: 0), grants(300, at: 0), grants(300, at: 0)]
        #expect(first == [false, true, true])
        let later = [grants(600, at: 300), grants(900, at: 600), grants(901, at: 900)]
        #expect(later == [true, true, false])
    }

    @Test(arguments: [
        ("{ on_error = \"skip\" }", "'rows' is missing"),
        ("{ rows = \"SELECT 1\", max_skipped = 5 }", "requires on_error = \"skip\""),
        ("{ rows = \"SELECT 1\", on_error = \"skipp\" }", "did you mean 'skip'?"),
        ("{ rows = \"SELECT 1\", on_error = \"skip\", max_skiped = 5 }", "did you mean 'max_skipped'?"),
        ("5", "expected a string or a table"),
    ])
    func wrongDeclarations(value: String, expected: String) async throws {
        try await EngineFixture.expectMistake(
            EngineFixture.request("/a") + EngineFixture.request("/${row:id}", "for_each = \(value)"), expected)
    }
}
