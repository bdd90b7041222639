import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedFetching
@testable import TributaryEngine

/// What goes over the wire, and what comes back in which form.
@Suite struct RequestTests {
    @Test func parametersHeadersAndBodies() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for path in ["/get", "/post", "/body"] { fixture.server.document(path, EngineFixture.items(["1"])) }
            try await fixture.sync(
                EngineFixture.request(
                    "/get?a=1", "parameters = { q = \"ä & b\", n = 2 }\nheaders = { X-Key = \"${KEY}\" }")
                    + EngineFixture.request("/post", "method = \"post\"\nparameters = { q = \"ä & b\" }")
                    + EngineFixture.request(
                        "/body", "method = \"POST\"\nbody = \"<ask/>\"\nheaders = { Content-Type = \"text/xml\" }"),
                environment: ["KEY": "open sesame"])
            let get = try #require(fixture.server.requests("/get").first)
            #expect(get.query == "a=1&n=2&q=%C3%A4%20%26%20b" && get.headers["x-key"] == "open sesame")
            #expect(get.headers["user-agent"]?.hasPrefix("Tributary/") == true)
            #expect(get.headers["accept"] == "application/xml, text/xml;q=0.9, */*;q=0.1")
            #expect(get.headers["referer"] == nil && get.headers["cookie"] == nil)
            let post = try #require(fixture.server.requests("/post").first)
            #expect(post.method == "POST" && post.body == "q=%C3%A4%20%26%20b")
            #expect(post.headers["content-type"] == "application/x-www-form-urlencoded")
            let body = try #require(fixture.server.requests("/body").first)
            #expect(body.body == "<ask/>" && body.headers["content-type"] == "text/xml")
        }
    }

    /// A header, a parameter and an element take whatever has one spelling.
    @Test func numbersAndDatesAreWritten() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(
                EngineFixture.request(
                    "/a",
                    """
                    headers = { X-Ratio = 1.5, X-Day = 2026-01-02 }
                    parameters = { on = true, since = 2026-01-02 }
                    method = "POST"
                    body = { xml = { a = { day = 2026-01-02 } } }
                    """))
            let sent = try #require(fixture.server.requests("/a").first)
            #expect(sent.headers["x-ratio"] == "1.5" && sent.headers["x-day"] == "2026-01-02")
            #expect(sent.query == "on=true&since=2026-01-02" && sent.body.hasSuffix("<a><day>2026-01-02</day></a>"))
        }
    }

    @Test func bodiesFromFilesAndTables() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.folder.write("<ask key='${KEY}'/>\n", to: "ask.xml")
            for path in ["/file", "/xml", "/json"] { fixture.server.document(path, EngineFixture.items(["1"])) }
            try await fixture.sync(
                EngineFixture.request("/file", "body = { file = \"ask.xml\" }")
                    + EngineFixture.request(
                        "/xml", "body = { xml = { q = { z = \"${KEY}\", a = [1, true], m = { \"@n\" = 2.5 } } } }")
                    + EngineFixture.request("/json", "method = \"PUT\"\nbody = '{\"key\": \"${KEY}\"}'"),
                environment: ["KEY": "a<'&"])
            let file = try #require(fixture.server.requests("/file").first)
            #expect(file.method == "POST" && file.headers["content-type"] == "application/xml; charset=utf-8")
            #expect(file.body == "<ask key='a&lt;'&amp;'/>\n")
            #expect(
                fixture.server.requests("/xml").first?.body
                    == "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<q><z>a&lt;'&amp;</z><a>1</a><a>true</a><m n=\"2.5\"></m></q>"
            )
            let json = try #require(fixture.server.requests("/json").first)
            #expect(json.method == "PUT" && json.headers["content-type"] == "application/json")
        }
    }

    @Test func compressedBodies() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let gzip = Gzip.compressed(EngineFixture.items(["g"]))
            fixture.server.route("/encoded") { _ in StubServer.response(200, gzip, ["Content-Encoding": "gzip"]) }
            fixture.server.route("/file.gz") { _ in StubServer.response(200, gzip) }
            fixture.server.route("/twice") { _ in StubServer.response(200, gzip + Gzip.compressed("<!-- more -->")) }
            fixture.server.route("/not-really") { _ in
                StubServer.response(200, EngineFixture.items(["p"]), ["Content-Encoding": "gzip"])
            }
            for path in ["/encoded", "/file.gz", "/twice", "/not-really"] {
                #expect(try await fixture.sync(EngineFixture.request(path)).first?.error == nil, "\(path)")
            }
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["g", "p"])
            #expect(fixture.server.requests("/encoded").first?.headers["accept-encoding"] == "gzip, deflate")
        }
    }

    @Test func charsetOfTheTransport() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let document = try #require(
                "<?xml version='1.0' encoding='UTF-8'?><items><item id='é'/></items>".data(using: .isoLatin1))
            fixture.server.route("/latin") { _ in
                StubServer.response(
                    200, Array(document), ["Content-Type": "text/xml; charset=\"ISO-8859-1\"; charset=utf-8"])
            }
            #expect(try await fixture.sync(EngineFixture.request("/latin")).first?.error == nil)
            #expect(try fixture.rows("SELECT id FROM item") == ["é"])
        }
    }

    @Test func redirectsKeepSecretsAtHome() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { (elsewhere) async throws in
                fixture.server.route("/here") { _ in
                    [StubServer.head(301, ["Location": "/there", "Content-Length": "0"])]
                }
                fixture.server.route("/there") { _ in
                    [StubServer.head(307, ["Location": elsewhere.url + "/away", "Content-Length": "0"])]
                }
                elsewhere.document("/away", EngineFixture.items(["1"]))
                let options = "headers = { Authorization = \"Basic x\", Cookie = \"a=b\", X-Api-Key = \"k\" }"
                #expect(try await fixture.sync(EngineFixture.request("/here", options)).first?.error == nil)
                #expect(fixture.server.requests("/there").first?.headers["authorization"] == "Basic x")
                let away = try #require(elsewhere.requests("/away").first)
                #expect(
                    away.headers["authorization"] == nil && away.headers["cookie"] == nil
                        && away.headers["x-api-key"] == nil)
                #expect(away.headers["accept"] != nil)
            }
        }
    }

    /// A POST that becomes a GET has no body, and says nothing of one (RFC 9110, section 15.4).
    @Test(arguments: [301, 302, 303, 307])
    func aRedirectToGETDropsWhatSpeaksOfTheBody(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/here") { _ in
                [StubServer.head(status, ["Location": "/there", "Content-Length": "0"])]
            }
            fixture.server.document("/there", EngineFixture.items(["1"]))
            let options = """
                method = "POST"
                body = "<ask/>"
                headers = { Content-Type = "text/xml", SOAPAction = "Ask", Accept = "text/xml", X-Api-Key = "k" }
                """
            #expect(try await fixture.sync(EngineFixture.request("/here", options)).first?.error == nil)
            let there = try #require(fixture.server.requests("/there").first)
            let isPost = status == 307
            #expect(there.method == (isPost ? "POST" : "GET") && there.body == (isPost ? "<ask/>" : ""))
            #expect((there.headers["content-type"] != nil) == isPost && (there.headers["soapaction"] != nil) == isPost)
            #expect(there.headers["accept"] == "text/xml" && there.headers["x-api-key"] == "k")
        }
    }

    /// However a request gets to another origin, the same headers go along.
    @Test func theSameHeadersGoToOtherOrigins() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { (elsewhere) async throws in
                let away = elsewhere.url + "/away"
                fixture.server.route("/moved") { _ in [StubServer.head(301, ["Location": away, "Content-Length": "0"])]
                }
                fixture.server.document("/name", "<r><at>\(away)</at></r>")
                elsewhere.document("/away", EngineFixture.items(["1"]))
                let options = """
                    headers = { Accept = "a/b", Accept-Encoding = "identity", Accept-Language = "fr", User-Agent = "me", X-Key = "k" }
                    """
                let moved = EngineFixture.request("/moved", options, of: "moved")
                let named = """
                    [[sources.named.requests]]
                    url = "URL/name"
                    capture = { at = "/r/at" }
                    [[sources.named.requests]]
                    url = "${capture:at}"
                    parser = "ItemsParser"

                    """
                for _ in 0..<4 { #expect(try await fixture.sync(moved).first?.error == nil) }
                #expect(fixture.server.requests("/moved").count == 3)
                #expect(try await fixture.sync(named + options).first?.error == nil)
                for request in elsewhere.requests("/away") {
                    #expect(request.headers["accept"] == "a/b" && request.headers["accept-language"] == "fr")
                    #expect(request.headers["accept-encoding"] == "identity" && request.headers["user-agent"] == "me")
                    #expect(request.headers["x-key"] == nil)
                }
                #expect(elsewhere.requests("/away").count == 5)
            }
        }
    }

    @Test func filesAreConditionalToo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let path = try fixture.folder.write(EngineFixture.items(["1"]), to: "items.xml")
            let source =
                "[[sources.s.requests]]\nurl = \"file://\(path)\"\nparser = \"ItemsParser\"\nsync = \"mirror\"\n"
            #expect(try await fixture.sync(source).first?.outcome == .committed)
            #expect(try await fixture.sync(source).first?.outcome == .unchanged)
            try fixture.folder.write(EngineFixture.items(["1", "2"]), to: "items.xml")
            #expect(try await fixture.sync(source).first?.counts.inserted == 1)
            let missing = source.replacingOccurrences(of: "items.xml", with: "nothing.xml")
            #expect(try await fixture.sync(missing).first?.error?.contains("does not exist") == true)
        }
    }

    @Test func noMoreThanPerHostAtOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let gate = HostGate(limit: 2)
            let active = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    group.addTask {
                        let permit = try await gate.permit(at: index % 2 == 0 ? "a" : "b")
                        defer { permit.release() }
                        active.enter()
                        await Task.yield()
                        active.leave()
                    }
                }
                try await group.waitForAll()
            }
            #expect(active.most <= 4)
            let permits = [try await gate.permit(at: "c"), try await gate.permit(at: "c")]
            #expect(gate.permitIfFree(at: "c") == nil)
            let waiting = Task { try await gate.permit(at: "c") }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            for permit in permits { permit.release() }
            let permit = try #require(gate.permitIfFree(at: "c"))
            permit.release()
        }
    }
}
