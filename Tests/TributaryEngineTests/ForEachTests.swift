import FeedConfiguration
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

/// Requests that are sent once for each row that the stack has staged.
@Suite struct ForEachTests {
    private func stack(_ options: String = "", query: String = "SELECT id FROM staged.company ORDER BY id") -> String {
        """
        [[sources.s.requests]]
        url = "URL/companies"
        parser = "CompaniesParser"
        sync = "mirror"
        allow_empty = true
        [[sources.s.requests]]
        url = "URL/items/${row:id}"
        parser = "ItemsParser"
        sync = "mirror"
        for_each = "\(query)"
        parameters = { of = "${row:ID}" }
        \(options)
        """
    }

    private func companies(_ ids: [String]) -> String {
        "<companies>" + ids.map { "<company id='\($0)' name='n'/>" }.joined() + "</companies>"
    }

    private func item(_ id: String, of company: String) -> String {
        "<items><item id='\(id)' company='\(company)'/></items>"
    }

    private func sync(_ fixture: EngineFixture, _ stack: String, mode: RefreshMode = .force) async throws -> RunReport {
        try #require(try await fixture.sync(stack, mode: mode).first)
    }

    /// What one answer lacks, another may have.
    @Test func aPlanNamesEachPathOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = """
                [[sources.s.requests]]
                url = "URL/companies"
                tables = [{ table = "firm", element = "company", key = ["id"], columns = { id = "@id" } }]
                [[sources.s.requests]]
                key = "details"
                url = "URL/items/${row:id}"
                for_each = "SELECT id FROM staged.firm ORDER BY id"
                tables = [{ table = "thing", element = "item", key = ["id"], columns = { id = "@id", name = "name", \
                size = "size" } }]
                """
            fixture.server.document("/companies", "<companies><company id='a'/><company id='b'/></companies>")
            fixture.server.document("/items/a", "<items><item id='1' odd='1'><name>n</name><more/></item></items>")
            fixture.server.document("/items/b", "<items><item id='2' odd='2'><more/><more/></item></items>")
            try await fixture.sync(sources)
            let service = try fixture.service(sources, clock: SystemClock())
            let source = try #require(service.configuration[source: "s"])
            let plan = try await service.plan(source) { _ in }
            let details = plan.elements.filter { $0.request == "details" }.map { "\($0.path) \($0.count)" }
            #expect(Set(details).count == 2 && details.count == 2, "\(details)")
            #expect(details.contains { $0.hasSuffix("more 3") }, "\(details)")
            #expect(details.contains { $0.hasSuffix("@odd 2") }, "\(details)")
            #expect(plan.columns.map { "\($0.path) \($0.count)" } == ["thing.size 2"])
            try service.store.close()
        }
    }

    /// Clients and servers would take such a segment, and the one before it, out of the path.
    @Test(arguments: [".", "..", "%2e%2E", "%252e.", "a/..", "..\\a"])
    func aValueThatLeadsToAnotherAddressIsRefused(_ id: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/companies", companies([id]))
            let report = try await sync(fixture, stack())
            #expect(report.outcome == .discarded)
            let error = report.error ?? ""
            #expect(error.contains("the value of ${row:id} would make a part of the path '.' or '..'"), "\(error)")
            #expect(fixture.server.requests().map(\.path) == ["/companies"])
        }
    }

    @Test func dotsWithinAValueAreSent() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let ids = ["...", ".a", "a..b"]
            fixture.server.document("/companies", companies(ids))
            for id in ids { fixture.server.document("/items/\(id)", item("i-\(id)", of: id)) }
            let report = try await sync(fixture, stack())
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
        }
    }

    @Test(.onEachStore) func oneRequestForEachStagedRow() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let ids = ["a", "b/c d", "e"]
            fixture.server.document("/companies", companies(ids + ["a"]), etag: "\"1\"")
            for (path, id) in [("a", "a"), ("b%2Fc%20d", "b/c d"), ("e", "e")] {
                fixture.server.document("/items/\(path)", item("i-\(id)", of: id))
            }
            let report = try await sync(fixture, stack())
            #expect(report.error == nil && report.counts.inserted == 6, "\(report)")
            #expect(
                try fixture.rows("SELECT id, company FROM item ORDER BY id") == ["i-a|a", "i-b/c d|b/c d", "i-e|e"])
            #expect(fixture.server.requests().filter { $0.path.hasPrefix("/items") }.count == 3)
            #expect(fixture.server.requests("/items/e").first?.query == "of=e")
            // The companies' rows must be staged: their request is not conditional.
            #expect(try await sync(fixture, stack(), mode: .full).counts.unchanged == 6)
            #expect(fixture.server.requests("/companies").last?.headers["if-none-match"] == nil)
            // A mirror deletes what no response had; a company that went takes its items along.
            fixture.server.document("/companies", companies(["a"]))
            #expect(try await sync(fixture, stack()).counts.deleted == 4)
            #expect(try fixture.rows("SELECT id FROM item") == ["i-a"])
        }
    }

    /// A first request finds no staged rows. Its query reads the store, or has rows of its own.
    @Test(.onEachStore) func aFirstRequestIsSentForEachRowOfItsQuery() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func source(_ query: String) -> String {
                EngineFixture.request("/items/${row:id}", "for_each = \"\(query)\"")
            }
            for id in ["a", "b"] { fixture.server.document("/items/\(id)", EngineFixture.items([id])) }
            let first = try await sync(fixture, source("SELECT 'a' AS id UNION ALL SELECT 'b'"))
            #expect(first.error == nil && first.counts.inserted == 2, "\(first)")
            let second = try await sync(fixture, source("SELECT id FROM main.item WHERE id > 'a'"))
            #expect(second.error == nil && second.counts.unchanged == 1, "\(second)")
            #expect(fixture.server.requests().map(\.path).sorted() == ["/items/a", "/items/b", "/items/b"])
        }
    }

    @Test func aFirstRequestHasNoStagedRows() async throws {
        try await EngineFixture.expectMistake(
            EngineFixture.request("/${row:id}", "for_each = \"SELECT id FROM STAGED.item\""),
            "no earlier request of the source could have staged a row; name the store's rows as main.TABLE")
    }

    @Test func oneFailureDiscardsAll() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/companies", companies((0..<9).map { "c\($0)" }))
            for number in 0..<9 { fixture.server.document("/items/c\(number)", item("\(number)", of: "c\(number)")) }
            #expect(try await sync(fixture, stack("concurrency = 3")).counts.inserted == 18)
            let before = try fixture.rows("SELECT * FROM item")
            fixture.server.document("/companies", companies((1..<9).map { "c\($0)" }))
            fixture.server.route("/items/c7") { _ in StubServer.response(500, "") }
            let failed = try await sync(fixture, stack("concurrency = 3"))
            #expect(failed.outcome == .discarded && failed.error?.contains("500") == true)
            fixture.server.route("/items/c7") { _ in
                [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n<it".utf8)), .close]
            }
            #expect(try await sync(fixture, stack("concurrency = 3")).outcome == .discarded)
            #expect(try await sync(fixture, stack("max_requests = 7")).error?.contains("more than 7 rows") == true)
            #expect(try fixture.rows("SELECT * FROM item") == before)
        }
    }

    /// An error names the row and the page, and shows no secret.
    @Test func errorsNameTheItemAndThePage() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/companies", companies(["a", "b", "c"]))
            for id in ["a", "b", "c"] { fixture.server.document("/items/\(id)", item(id, of: id)) }
            func error(_ options: String = "") async throws -> String {
                try await fixture.sync(stack(options), environment: ["TOKEN": "s3cret-token"]).first?.error ?? ""
            }
            fixture.server.document("/items/b", "<items><item id='1'><size>big</size></item></items>")
            #expect(
                try await error().contains("request '2', item 2 of 3 (id = b): \(fixture.server.url)/items/b: line 1"))
            fixture.server.document("/items/b", item("b", of: "b"))
            fixture.server.route("/items/c") { _ in StubServer.response(404, "") }
            #expect(
                try await error().contains("request '2', item 3 of 3 (id = c): GET \(fixture.server.url)/items/c: "))
            #expect(try await error().contains("on_error = \"skip\" in for_each leaves out such items"))
            // The second page of the second row's response.
            let paged = "page = { next = \"/items/next\" }\nheaders = { X-Key = \"${TOKEN}\" }"
            fixture.server.document("/items/b", "<items><next>/more?key=s3cret-token</next></items>")
            fixture.server.route("/more") { _ in StubServer.response(500, "") }
            let more = "page 2 (\(fixture.server.url)/more?key=[secret]&of=b): "
            let failed = try await error(paged)
            #expect(failed.contains("request '2', item 2 of 3 (id = b): \(more)GET "), "\(failed)")
            #expect(failed.contains("500"))
            fixture.server.document("/more", "<items><item id='1'><size>big</size></item></items>")
            let wrong = try await error(paged)
            #expect(
                wrong.contains("request '2', item 2 of 3 (id = b): \(more)") && wrong.contains("line 1"), "\(wrong)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func aTimeoutNamesTheItemAndThePage() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/companies", companies(["a"]))
            fixture.server.document("/items/a", "<items><next>/more</next></items>")
            fixture.server.route("/more") { _ in [.hang] }
            let error =
                try await sync(fixture, stack("page = { next = \"/items/next\" }\ntimeout = \"1s\"")).error ?? ""
            let place = "request '2', item 1 of 1 (id = a): page 2 (\(fixture.server.url)/more?of=a): GET "
            #expect(error.contains(place) && error.contains("within 1 s"), "\(error)")
        }
    }

    @Test(.onEachStore) func theStoreCanBeAskedBesides() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/companies", companies(["a", "b"]))
            fixture.server.document("/items/a", item("1", of: "a"))
            fixture.server.document("/items/b", item("2", of: "b"))
            let new = "SELECT id FROM staged.company WHERE id NOT IN (SELECT company FROM main.item)"
            let options = "allow_empty = true"
            let upsert = stack(options, query: new).replacingOccurrences(of: "sync = \"mirror\"", with: "")
            #expect(try await sync(fixture, upsert).counts.inserted == 4)
            fixture.server.document("/companies", companies(["a", "b", "c"]))
            fixture.server.document("/items/c", item("3", of: "c"))
            #expect(try await sync(fixture, upsert).counts.inserted == 2)
            #expect(fixture.server.requests("/items/a").count == 1)
        }
    }

    @Test(
        .onEachStore,
        arguments: [
            ("SELECT nope FROM staged.company", "no such column: nope|column \"nope\" does not exist"),
            ("DELETE FROM staged.company", "for_each"),
            (
                "SELECT id FROM staged.companies",
                "no such table: staged.companies|relation \"staged.companies\" does not exist"
            ),
            ("SELECT name FROM staged.company", "no column 'id'"),
            ("SELECT NULL AS id FROM staged.company", "no value in its column 'id'"),
        ])
    func wrongQueries(query: String, expected: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/companies", companies(["a"]))
            let report = try await sync(fixture, stack(query: query))
            let texts = expected.components(separatedBy: "|")
            let text = StoreKind.by(sqlite: texts[0], postgres: texts[texts.count - 1])
            #expect(report.error?.contains(text) == true, "\(report.error ?? "none")")
        }
    }

    @Test(arguments: [
        (EngineFixture.request("/${row:a}"), "requires 'for_each'"),
        (EngineFixture.request("/a") + EngineFixture.request("/b", "for_each = \"SELECT 1\""), "the same for each row"),
        (EngineFixture.request("/a", "max_requests = 5"), "requires 'for_each'"),
    ])
    func wrongDeclarations(requests: String, expected: String) async throws {
        try await EngineFixture.expectMistake(requests, expected)
    }
}
