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

/// What becomes of connections that are not there, are late, or end too soon.
@Suite struct ConnectionTests {
    /// A stack of requests to paths of one server.
    private func stack(_ paths: [String], _ options: String = "", of source: String = "s") -> String {
        paths.map { EngineFixture.request($0, options, of: source) }.joined()
    }

    @Test func aKeptAliveConnectionThatIsClosedInsteadOfAnsweringIsReplaced() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for path in ["/a", "/b", "/c"] {
                fixture.server.route(path) { request in
                    request.number == 1 ? StubServer.response(200, EngineFixture.items([request.path])) : [.close]
                }
            }
            let sources = (0..<40).map { stack(["/a", "/b", "/c"], of: "s\($0)") }.joined()
            let reports = try await fixture.sync(sources)
            #expect(reports.count == 40)
            for report in reports { #expect(report.error == nil) }
        }
    }

    @Test func aResetInsteadOfAnAnswerIsTheSame() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for path in ["/a", "/b"] {
                fixture.server.route(path) { request in
                    request.number == 1 ? StubServer.response(200, EngineFixture.items(["1"])) : [.reset]
                }
            }
            let report = try #require(try await fixture.sync(stack(["/a", "/b"])).first)
            #expect(report.error == nil)
            #expect(fixture.server.requests("/b").count == 2)
        }
    }

    @Test func whatIsNotIdempotentIsSentOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            fixture.server.route("/b") { _ in [.close] }
            let report = try #require(
                try await fixture.sync(stack(["/a"]) + stack(["/b"], "method = \"POST\"\nbody = \"x\"")).first)
            #expect(report.outcome == .discarded)
            #expect(fixture.server.requests("/b").count == 1)
        }
    }

    @Test func aNewConnectionThatIsClosedIsAFailure() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in [.close] }
            fixture.server.document("/b", EngineFixture.items(["1"]))
            fixture.server.route("/c") { request in
                // A byte of an answer is an answer.
                request.number == 1 ? StubServer.response(200, EngineFixture.items(["1"])) : [.send([0x48]), .close]
            }
            #expect(try await fixture.sync(stack(["/a"])).first?.outcome == .discarded)
            #expect(fixture.server.requests("/a").count == 1)
            #expect(try await fixture.sync(stack(["/b", "/c"])).first?.outcome == .discarded)
            #expect(fixture.server.requests("/c").count == 1)
        }
    }

    // A label has 63 letters at most: nobody needs to be asked for one of 64.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            "http://127.0.0.1:PORT/", "https://127.0.0.1:PORT/", "http://\(String(repeating: "a", count: 64)).invalid/",
        ])
    func whoIsNotThereFailsAtOnce(address: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let gone = try StubServer()
            gone.stop()
            let url = address.replacingOccurrences(of: "PORT", with: String(gone.port))
            let report = try #require(
                try await fixture.sync(
                    "[[sources.s.requests]]\nurl = \"\(url)\"\nparser = \"ItemsParser\"\nconnect_timeout = \"5m\"\ntimeout = \"5m\"\n"
                ).first)
            #expect(report.outcome == .discarded && report.error?.contains("within") == false, "\(report.error ?? "")")
            if address.contains("PORT") {
                #expect(report.error?.lowercased().contains("connection refused") == true, "\(report.error ?? "")")
            }
        }
    }

    /// Errors are for people: none shows a type of a library's.
    @Test(.timeLimit(.minutes(10))) func errorsNameNoTypes() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let gone = try StubServer()
            gone.stop()
            fixture.server.route("/cut") { _ in
                [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n<it".utf8)), .close]
            }
            fixture.server.route("/garbage") { _ in [.send(Array("SSH-2.0-OpenSSH\r\n".utf8)), .close] }
            fixture.server.route("/reset") { _ in [.reset] }
            fixture.server.route("/none") { _ in [.close] }
            fixture.server.route("/header") { _ in [.send(Array("HTTP/1.1 200 OK\r\nA\u{1}: b\r\n\r\n".utf8)), .close] }
            let label = String(repeating: "a", count: 64)
            let proxy = "proxy = \"http://127.0.0.1:\(fixture.server.port)\""
            for (url, options, expected) in [
                (
                    "http://\(label).invalid/", "",
                    "cannot connect to \(label).invalid:80: the host's name cannot be resolved"
                ),
                ("http://127.0.0.1:\(gone.port)/", "", "onnection refused"),
                ("URL/cut", "", "cut short"), ("URL/garbage", "", "not HTTP"), ("URL/header", "", "not HTTP"),
                ("URL/reset", "", "the connection broke"), ("URL/none", "", "closed the connection"),
                ("https://127.0.0.1:1/", proxy, "proxy"),
            ] {
                let source =
                    "[[sources.s.requests]]\nurl = \"\(url)\"\nparser = \"ItemsParser\"\ntimeout = \"20s\"\n\(options)\n"
                let error = try await fixture.sync(source).first?.error ?? ""
                #expect(error.contains(expected), "\(url): \(error)")
                Self.expectWords(error)
            }
        }
    }

    @Test func aCertificateThatNobodyTrustsIsSaidInWords() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withTLSStubServer("") { server in
                let source = "[[sources.s.requests]]\nurl = \"\(server.url)/\"\nparser = \"ItemsParser\"\n"
                let error = try await fixture.sync(source).first?.error ?? ""
                #expect(error.contains("no TLS connection: certificate verify failed; check"), "\(error)")
                Self.expectWords(error)
            }
        }
    }

    /// Expects that a text shows nothing of Swift's: no `Type.case`, no `label: Type(…)`, no `Optional(…)`.
    static func expectWords(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let internals =
            #/[A-Z][a-z]+[A-Za-z]*Error\b|[A-Z][A-Za-z0-9]*\.[a-z][A-Za-z]+|[a-zA-Z]+\([a-zA-Z]+: |Optional\(|NIO/#
        #expect(text.firstMatch(of: internals) == nil, "\(text)", sourceLocation: sourceLocation)
    }

    @Test func aTimeoutSaysWhatWasLate() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func error(_ url: String, _ options: String) async throws -> String {
                let source = "[[sources.s.requests]]\nurl = \"\(url)\"\nparser = \"ItemsParser\"\n\(options)\n"
                return try await fixture.sync(source).first?.error ?? ""
            }
            fixture.server.route("/silent") { _ in [.hang] }
            fixture.server.route("/slow") { _ in
                [StubServer.head(200, ["Content-Length": "1000"]), .send(Array("<items>".utf8)), .hang]
            }
            // Nobody answers its TLS.
            let tls = fixture.server.url.replacingOccurrences(of: "http:", with: "https:")
            #expect(try await error(tls, "timeout = \"300ms\"").contains("no connection within 0.3 s"))
            #expect(try await error(tls, "connect_timeout = \"300ms\"").contains("no connection within 0.3 s"))
            let silence = try await error("URL/silent", "timeout = \"3s\"")
            #expect(silence.contains("no response within 3 s; raise 'timeout'"))
            let slowness = try await error("URL/slow", "timeout = \"3s\"")
            #expect(slowness.contains("the body was not complete within 3 s; 7 bytes were received"))
        }
    }

    /// What a former configuration used is closed, once no run uses it any more.
    @Test(.timeLimit(.minutes(10))) func connectionsAndTokensOfFormerConfigurationsEnd() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let gate = Counter()
            fixture.server.route("/token") { request in
                StubServer.response(200, "{\"access_token\": \"token-\(request.headers.count)\"}")
            }
            fixture.server.route("/a") { _ in
                gate.enter()
                // The first answer waits for the second request, which a reload has brought about.
                while gate.total == 1 { usleep(1000) }
                return StubServer.response(200, EngineFixture.items(["1"]))
            }
            func source(_ connectTimeout: String, of name: String, secret: String) -> String {
                EngineFixture.request(
                    "/a",
                    """
                    connect_timeout = "\(connectTimeout)"
                    auth = { oauth2 = { token_url = "URL/token", client_id = "me", client_secret = "\(secret)" } }
                    """, of: name)
            }
            let former = source("5s", of: "s", secret: "former-secret")
            let service = try fixture.service(former, clock: fixture.clock)
            let running = Task { try await service.run() }
            while gate.total == 0 { try await Task.sleep(for: .milliseconds(2)) }
            let http = service.environment.http
            #expect(http.clients.count == 1 && http.tokens.count == 1)
            service.reload(try fixture.configuration(source("6s", of: "t", secret: "latter-secret")))
            var outcomes = service.outcomes.makeAsyncIterator()
            for _ in 0..<2 { #expect(await outcomes.next()?.outcome == .committed) }
            await service.heartbeat()
            while http.clients.count > 1 || http.tokens.count > 1 { try await Task.sleep(for: .milliseconds(2)) }
            // Those of the configuration in force are kept.
            service.refresh()
            #expect(await outcomes.next()?.source == "t")
            #expect(http.clients.count == 1 && http.tokens.count == 1)
            running.cancel()
            try? await running.value
            try service.store.close()
        }
    }
}
