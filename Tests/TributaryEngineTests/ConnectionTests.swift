import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestSupport
import Testing
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
            #expect(try await error(tls, "timeout = \"300ms\"").contains("no connection within 0.3 seconds"))
            #expect(try await error(tls, "connect_timeout = \"300ms\"").contains("no connection within 0.3 seconds"))
            let silence = try await error("URL/silent", "timeout = \"3s\"")
            #expect(silence.contains("no response head within 3.0 seconds"))
            let slowness = try await error("URL/slow", "timeout = \"3s\"")
            #expect(slowness.contains("the body was not complete within 3.0 seconds, 7 bytes came"))
        }
    }
}
