import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import FeedFetching
@testable import TributaryEngine

/// Pages that a continuation token or a Link header leads to.
@Suite struct PagingTests {
    private static let table =
        "tables = [{ table = \"thing\", element = \"item\", key = [\"id\"], columns = { id = \"@id\" } }]"

    private static func page(_ id: String, token: String?) -> String {
        "<r><item id='\(id)'/>" + (token.map { "<next>\($0)</next>" } ?? "") + "</r>"
    }

    private func sync(_ fixture: EngineFixture, _ options: String) async throws -> RunReport {
        let source = "[[sources.s.requests]]\nurl = \"URL/p\"\nsync = \"mirror\"\n\(Self.table)\n\(options)\n"
        return try #require(try await fixture.sync(source).first)
    }

    /// As in OAI-PMH: the token takes the place of all parameters but the verb, and an empty one ends the list.
    @Test func aTokenIsSentUntilItIsEmpty() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/p") { request in
                let (id, token) =
                    switch request.query {
                    case "from=2026&verb=List": ("1", "a b")
                    case "resumptionToken=a%20b&verb=List": ("2", "c")
                    default: ("3", "")
                    }
                return StubServer.response(200, Self.page(id, token: token))
            }
            let report = try await sync(
                fixture,
                """
                parameters = { verb = "List", from = "2026" }
                page = { token = "/r/next", parameter = "resumptionToken", keep = ["verb"] }
                """)
            #expect(report.counts.inserted == 3, "\(report)")
            #expect(
                fixture.server.requests("/p").map(\.query) == [
                    "from=2026&verb=List", "resumptionToken=a%20b&verb=List", "resumptionToken=c&verb=List",
                ])
        }
    }

    @Test func aServerThatIsBusyAtALaterPageIsAskedAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let isBusy = Mutex(true)
            fixture.server.route("/p") { request in
                guard request.query.contains("t=2") else { return StubServer.response(200, Self.page("1", token: "2")) }
                let refuses = isBusy.withLock { isBusy in
                    defer { isBusy = false }
                    return isBusy
                }
                guard !refuses else { return StubServer.response(429, "", ["Retry-After": "1"]) }
                return StubServer.response(200, Self.page("2", token: nil))
            }
            let report = try await sync(fixture, "page = { token = \"/r/next\", parameter = \"t\" }")
            #expect(report.counts.inserted == 2, "\(report)")
            #expect(fixture.server.requests("/p").map(\.query) == ["", "t=2", "t=2"])
        }
    }

    @Test(arguments: [
        ("body = { json = { size = 2, cursor = 0 } }", "{\"cursor\":7,\"size\":2}"),
        ("body = { json = { size = 2 } }", "{\"cursor\":\"7\",\"size\":2}"),
        ("body = { json = { v = { first = 1, cursor = \"\" } } }", "{\"v\":{\"cursor\":\"7\",\"first\":1}}"),
        ("body = { xml = { q = { cursor = \"\", size = 2 } } }", "<q><cursor>7</cursor><size>2</size></q>"),
        ("method = \"POST\"\nparameters = { size = 2 }", "cursor=7&size=2"),
    ])
    func aTokenIsSentInTheBody(body: String, expected: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let bodies = Bodies()
            let parameter = body.contains("json = { v") ? "v/cursor" : "cursor"
            fixture.server.route("/p") { request in
                bodies.add(request.body)
                return StubServer.response(
                    200, Self.page("\(bodies.all.count)", token: bodies.all.count == 1 ? "7" : nil))
            }
            let page = "page = { token = \"/r/next\", parameter = \"\(parameter)\" }"
            let report = try await sync(fixture, body + "\n" + page)
            #expect(report.counts.inserted == 2, "\(report)")
            #expect(bodies.all.count == 2 && bodies.all.last?.hasSuffix(expected) == true, "\(bodies.all)")
        }
    }

    @Test func aTokenOfASOAPOperationIsInItsElement() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let bodies = Bodies()
            fixture.server.route("/p") { request in
                bodies.add(request.body)
                let token = bodies.all.count == 1 ? "<next>n1</next>" : "<next/>"
                return StubServer.response(
                    200,
                    "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><r><item id='\(bodies.all.count)'/>"
                        + "\(token)</r></s:Body></s:Envelope>")
            }
            let report = try await sync(
                fixture,
                """
                soap = { name = "list", namespace = "urn:a", parameters = { token = "" } }
                page = { token = "/r/next", parameter = "token" }
                """)
            #expect(report.counts.inserted == 2, "\(report)")
            #expect(bodies.all.last?.contains(">n1</") == true, "\(bodies.all)")
        }
    }

    /// An error that comes with the status 200 is no empty page, however many responses came before.
    @Test(
        arguments: [
            ("[]", nil), (#"{"items":[]}"#, nil), (#"{"error":{"code":1}}"#, "/json/error/code"),
            (#""rate limit exceeded""#, "/json/text()"), ("<json>rate limit</json>", "/json/text()"),
        ] as [(String, String?)])
    func aPageWithoutARecordMayBeAnError(page: String, path: String?) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let items = (1...250).map(String.init)
            let rows =
                "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 250) SELECT id FROM n"
            let source = """
                [[sources.s.requests]]
                url = "URL/${row:id}"
                sync = "mirror"
                max_deleted = "100%"
                for_each = "\(rows)"
                concurrency = 8
                tables = [{ table = "t", element = "items", key = ["id"], columns = { id = "id" } }]
                """
            for id in items {
                // The first half is empty, and the last one but one has the page.
                let body = Int(id) ?? 0 > 125 ? #"{"items":[{"id":\#(id)}]}"# : #"{"items":[]}"#
                let isPage = id == "249"
                fixture.server.route("/\(id)") { _ in
                    StubServer.response(
                        200, isPage ? page : body,
                        ["Content-Type": isPage && page.hasPrefix("<") ? "application/xml" : "application/json"])
                }
            }
            let report = try #require(try await fixture.sync(source).first)
            #expect((report.outcome == .committed) == (path == nil), "\(report)")
            #expect(path.map { report.error?.contains("it has \($0)") == true } ?? true, "\(report)")
        }
    }

    @Test func aTokenThatComesAgainDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/p", Self.page("1", token: "same"))
            let report = try await sync(fixture, "page = { token = \"/r/next\", parameter = \"t\" }")
            #expect(report.error?.contains("a token that an earlier page had, 'same'") == true, "\(report)")
            #expect(fixture.server.requests("/p").count == 2)
        }
    }

    @Test func theLinkHeaderLeadsOn() async throws {
        try await EngineFixture.with { (fixture) async throws in
            @Sendable func answer(_ id: String, _ link: String?) -> [StubServer.Step] {
                StubServer.response(200, Self.page(id, token: nil), link.map { ["Link": $0] } ?? [:])
            }
            fixture.server.route("/p") { _ in
                answer("1", "</x>; rel=\"prev\", </q?page=2>; title=\"a, b\"; rel=\"last next\"")
            }
            fixture.server.route("/q") { _ in answer("2", "</q?page=9>; rel=\"next\"; anchor=\"#other\"") }
            let report = try await sync(fixture, "page = { link = true }")
            #expect(report.counts.inserted == 2, "\(report)")
            #expect(fixture.server.requests("/q").map(\.query) == ["page=2"])
        }
    }

    @Test(arguments: [
        ("page = { token = \"/r/next\" }", "token: requires 'parameter', by which it is sent"),
        ("page = { link = true, next = \"/r/next\" }", "found 'next' and 'link'; give only one"),
        ("page = { counter = \"p\", keep = [\"a\"] }", "requires 'token'"),
        (
            "body = { text = \"x\" }\npage = { token = \"/r/next\", parameter = \"t\" }",
            "has no place in a body of plain text"
        ),
        (
            "body = { json = { q = 1 } }\npage = { token = \"/r/next\", parameter = \"v/t\" }",
            "'v/t' has no place in the body, which has no object 'v'"
        ),
        (
            "body = { xml = { q = \"\" } }\npage = { token = \"/r/next\", parameter = \"t\" }",
            "the body has no element 't'"
        ),
    ])
    func mistakesSayWhatToWrite(options: String, expected: String) async throws {
        let source = "[[sources.s.requests]]\nurl = \"URL/p\"\n\(Self.table)\n\(options)\n"
        try await EngineFixture.expectMistake(source, expected)
    }

    private final class Bodies: Sendable {
        private let bodies = Mutex<[String]>([])
        var all: [String] { bodies.withLock(\.self) }
        func add(_ body: String) { bodies.withLock { $0.append(body) } }
    }
}
