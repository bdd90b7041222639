import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import TributaryEngine

/// Requests that depend on others of their stack, or repeat themselves; bodies that are not XML.
@Suite struct StackTests {
    private let items = """
        parser = "ItemsParser"

        """

    private func sync(_ fixture: EngineFixture, _ requests: String, mode: RefreshMode = .force) async throws
        -> RunReport
    {
        try #require(try await fixture.sync("[sources.s]\n" + requests, mode: mode).first)
    }

    @Test func whatOneRequestCapturesAnotherSends() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/login", "<login><token>a/b c</token><user id='7'/></login>")
            fixture.server.document("/items/7", EngineFixture.items(["1"]))
            let requests = """
                [[sources.s.requests]]
                url = "URL/login"
                capture = { token = "/login/token", user = "/login/user/@id" }
                [[sources.s.requests]]
                url = "URL/items/${capture:user}"
                parser = "ItemsParser"
                headers = { X-Token = "${capture:token}" }
                parameters = { t = "${capture:token}" }
                """
            let report = try await sync(fixture, requests)
            #expect(report.outcome == .committed && report.counts.inserted == 1, "\(report)")
            let sent = try #require(fixture.server.requests("/items/7").first)
            #expect(sent.headers["x-token"] == "a/b c" && sent.query == "t=a%2Fb%20c")
            fixture.server.document("/login", "<login/>")
            #expect(report.requests.map(\.outcome) == [.captured, .parsed])
            let nothing = try await sync(fixture, requests)
            #expect(
                nothing.error?.contains("has nothing at '") == true && nothing.error?.contains("/login") == true,
                "\(nothing)")
            let misspelt = requests.replacingOccurrences(of: "capture:user", with: "capture:usr")
            #expect(throws: ConfigurationError.self) { try fixture.configuration("[sources.s]\n" + misspelt) }
        }
    }

    /// XPath 1.0, section 4.2: the string value of an element is that of all text in it.
    @Test func aCaptureTakesTheWholeTextOfAnElement() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let login =
                "<login><token> a<b>b<i>c</i></b> d </token><empty/><empty>e<b>f</b></empty><own>x<b>y</b>z</own></login>"
            fixture.server.document("/login", login)
            fixture.server.document("/items", EngineFixture.items(["1"]))
            let requests = """
                [[sources.s.requests]]
                url = "URL/login"
                capture = { token = "string(/login/token)", all = "string(/login)", e = "string(/login/empty)", own = "/login/own", none = "/login/empty" }
                [[sources.s.requests]]
                url = "URL/items"
                parser = "ItemsParser"
                headers = { X-Token = "${capture:token}", X-All = "${capture:all}", X-E = "${capture:e}", X-Own = "${capture:own}", X-None = "${capture:none}" }
                """
            let report = try await sync(fixture, requests)
            #expect(report.outcome == .committed, "\(report)")
            let sent = try #require(fixture.server.requests("/items").first).headers
            #expect(sent["x-token"] == "abc d" && sent["x-all"] == "abc d efxyz" && sent["x-e"] == "ef")
            #expect(sent["x-own"] == "xz" && sent["x-none"] == "e")
            fixture.server.document(
                "/login",
                "<login><token>\(String(repeating: "<b>\(String(repeating: "x", count: 1 << 20))</b>", count: 17))</token></login>"
            )
            let long = try await sync(fixture, requests)
            #expect(
                long.error?.contains("takes whole, by string(…), has more than 16 M") == true, "\(long.error ?? "")")
        }
    }

    @Test func aCapturedAddressGetsNoSecretsOfOthers() async throws {
        try await withStubServer { (other) async throws in
            try await EngineFixture.with { (fixture) async throws in
                other.document("/b", EngineFixture.items(["1"]))
                fixture.server.document("/b", EngineFixture.items(["2"]))
                func sync(to address: String, _ options: String = "") async throws -> RunReport {
                    fixture.server.document("/index", "<index><at>\(address)</at></index>")
                    return try await self.sync(
                        fixture,
                        """
                        [[sources.s.requests]]
                        url = "URL/index"
                        capture = { at = "/index/at" }
                        [[sources.s.requests]]
                        url = "${capture:at}"
                        headers = { X-Key = "secret" }
                        auth = { bearer = "secret" }
                        parser = "ItemsParser"
                        \(options)
                        """)
                }
                #expect(try await sync(to: other.url + "/b").counts.inserted == 1)
                let elsewhere = try #require(other.requests("/b").first)
                #expect(elsewhere.headers["authorization"] == nil && elsewhere.headers["x-key"] == nil)
                #expect(try await sync(to: fixture.server.url + "/b").counts.inserted == 1)
                #expect(fixture.server.requests("/b").first?.headers["x-key"] == "secret")
                #expect(
                    try await sync(to: "file:///etc/passwd").error?.contains("is not an http: or https: URL") == true)
                #expect(try await sync(to: other.url, "body = \"x\"").error?.contains("POST is not sent there") == true)
            }
        }
    }

    @Test func aPageElsewhereGetsNoSecrets() async throws {
        try await withStubServer { (other) async throws in
            try await EngineFixture.with { (fixture) async throws in
                fixture.server.route("/1") { _ in
                    [StubServer.head(302, ["Location": other.url + "/1", "Content-Length": "0"])]
                }
                other.document("/1", "<items><item id='1'/><next href='/2?page=2'/></items>")
                other.document("/2", EngineFixture.items(["2"]))
                let options =
                    "page = { next = \"/items/next/@href\" }\nauth = { bearer = \"t\" }\nparameters = { page = 1 }"
                #expect(try await sync(fixture, EngineFixture.request("/1", options)).counts.inserted == 2)
                #expect(fixture.server.requests("/1").first?.headers["authorization"] == "Bearer t")
                let second = try #require(other.requests("/2").first)
                #expect(second.headers["authorization"] == nil && second.query == "page=2")
            }
        }
    }

    @Test func pagesAreOneRequest() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func page(_ id: String, next: String?) -> String {
                "<items><item id='\(id)'/>" + (next.map { "<next href='\($0)'/>" } ?? "") + "</items>"
            }
            fixture.server.document("/1", page("1", next: "/2?a=b&amp;c"))
            fixture.server.document("/2", page("2", next: "3"))
            fixture.server.document("/3", page("3", next: nil))
            func requests(_ most: Int) -> String {
                EngineFixture.request(
                    "/1", "sync = \"mirror\"\npage = { next = \"/items/next/@href\", max_pages = \(most) }")
            }
            let report = try await sync(fixture, requests(3))
            #expect(report.outcome == .committed && report.counts.inserted == 3, "\(report)")
            let tooMany = try await sync(fixture, requests(2))
            #expect(tooMany.error?.contains("more than 2 pages") == true)
            // One failing page discards all; a mirror deletes only after the last.
            fixture.server.document("/1", page("9", next: "/2"))
            fixture.server.route("/2") { _ in StubServer.response(500, "") }
            #expect(try await sync(fixture, requests(3)).outcome == .discarded)
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "2", "3"])
            fixture.server.document("/1", page("1", next: "http://example.org/2"))
            #expect(try await sync(fixture, requests(3)).error?.contains("another origin") == true)
        }
    }

    @Test func aCounterEndsWithThePageWithoutARecord() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/p") { request in
                let number = Int(request.query.split(separator: "=").last ?? "") ?? 0
                return StubServer.response(200, EngineFixture.items(number < 40 ? ["\(number)"] : []))
            }
            let request = EngineFixture.request(
                "/p", "sync = \"mirror\"\npage = { counter = \"offset\", start = 0, step = 20, max_pages = 9 }")
            let report = try await sync(fixture, request)
            #expect(report.counts.inserted == 2, "\(report)")
            #expect(fixture.server.requests("/p").map(\.query) == ["offset=0", "offset=20", "offset=40"])
        }
    }

    @Test(.onEachStore) func sinceLastTime() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1", "5"]))
            let requests = """
                [[sources.s.requests]]
                url = "URL/a"
                parser = "ItemsParser"
                parameters = { since = "${last:max(id)}" }
                """
            _ = try await sync(fixture, requests)
            _ = try await sync(fixture, requests)
            #expect(fixture.server.requests("/a").map(\.query) == ["", "since=5"])
        }
    }

    /// The second request adds a column to the table that the first one has made and written.
    /// The first request is unchanged, and asked again after the second one, because their rows are needed together. The
    /// second one's columns still overrule it.
    @Test(.onEachStore, arguments: [false, true])
    func aRequestThatIsSentAgainKeepsItsPlace(isLarge: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: "CREATE TABLE IF NOT EXISTS r (id TEXT PRIMARY KEY, name TEXT, size TEXT, color TEXT);")
            func request(_ path: String, _ column: String) -> String {
                """
                [[sources.s.requests]]
                url = "URL/\(path)"
                sync = "mirror"
                tables = [{ table = "r", element = "r", key = ["id"], columns = { id = "@id", name = "@name", \(column) = "@x" } }]

                """
            }
            let ids = isLarge ? (0..<300).map { String($0) + String(repeating: "-", count: 9_000) } : ["1", "2"]
            func document(_ name: String, _ x: String) -> String {
                "<f>" + ids.map { "<r id='\($0)' name='\(name)' x='\(x)'/>" }.joined() + "</f>"
            }
            let requests = request("a", "size") + request("b", "color")
            fixture.server.document("/a", document("of a", "1"), etag: "\"1\"")
            fixture.server.document("/b", document("of b", "red"), etag: "\"1\"")
            #expect(try await sync(fixture, requests).error == nil)
            #expect(try fixture.rows("SELECT DISTINCT name, size, color FROM r") == ["of b|1|red"])
            fixture.server.document("/b", document("of b", "blue"), etag: "\"2\"")
            #expect(try await sync(fixture, requests).error == nil)
            #expect(try fixture.rows("SELECT DISTINCT name, size, color FROM r") == ["of b|1|blue"])
        }
    }

    @Test(.onEachStore) func aTableGrowsWithinAStack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<f><r id='1' a='x'/></f>")
            fixture.server.document("/b", "<f><r id='1' b='y'/></f>")
            let requests = ["a", "b"].map { name in
                """
                [[sources.s.requests]]
                url = "URL/\(name)"
                tables = [{ table = "grown", element = "r", key = ["id"], columns = { id = "@id", \(name) = "@\(name)" } }]

                """
            }
            let report = try await sync(fixture, requests.joined())
            #expect(report.outcome == .committed, "\(report)")
            #expect(try fixture.rows("SELECT id, a, b FROM grown") == ["1|x|y"])
        }
    }

    @Test func theSameBytesWithoutValidatorsAreUnchanged() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let request = EngineFixture.request("/a")
            #expect(try await sync(fixture, request).outcome == .committed)
            #expect(try await sync(fixture, request).outcome == .unchanged)
            #expect(try await sync(fixture, request, mode: .full).outcome == .committed)
            fixture.server.document("/a", EngineFixture.items(["2"]))
            #expect(try await sync(fixture, request).counts.inserted == 1)
        }
    }

    @Test(arguments: [1, 3, 4096])
    func jsonGoesThroughTheSameMappings(pieces: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = Array(
                """
                {"meta": {"next page": null, "total": 2}, "people": [
                  {"id": 1, "name": "Ann \\"A\\" \\u00e9\\ud835\\udd4f <&>", "tags": ["a", "b"], "ok": true, "at": {"x": -1.5e3}},
                  {"id": 2, "name": "", "tags": [], "matrix": [[1, 2], [3]]}
                ]}
                """.utf8)
            fixture.server.route("/a") { _ in
                [StubServer.head(200, ["Content-Type": "application/json", "Content-Length": "\(body.count)"])]
                    + stride(from: 0, to: body.count, by: pieces).map {
                        .send(Array(body[$0..<min(body.count, $0 + pieces)]))
                    }
            }
            let requests = """
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "person"
                element = "people"
                key = ["id"]
                order = ["id", "name", "tags", "ok", "x", "matrix"]
                [sources.s.requests.tables.columns]
                id = { path = "id", type = "integer" }
                name = "name"
                tags = { path = "tags", repeat = "join", separator = "," }
                ok = { path = "ok", type = "boolean" }
                x = { path = "at/x", type = "real" }
                matrix = { path = "matrix/item", repeat = "join", separator = "," }
                """
            let report = try await sync(fixture, requests)
            #expect(report.outcome == .committed, "\(report)")
            #expect(
                try fixture.rows("SELECT * FROM person") == [
                    "1|Ann \"A\" é𝕏 <&>|a,b|1|-1500.0|NULL", "2||NULL|NULL|NULL|1,2,3",
                ])
        }
    }
}
