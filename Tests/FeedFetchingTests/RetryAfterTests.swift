import Dispatch
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import FeedFetching
@testable import TributaryEngine

/// Every request to a host obeys the wait that the host has requested, in whatever run it was requested.
@Suite(.timeLimit(.minutes(5))) struct RetryAfterTests {
    /// The kind of the second request of a run, during which another source's request is answered with 429 or 503.
    enum Kind: CaseIterable {
        case laterRequest, page, item, redirect, repetition, rest, token

        /// The requests of the source `a`.
        var requests: String {
            func request(_ path: String, _ options: String = "") -> String {
                EngineFixture.request(path, options, of: "a")
            }
            let credentials = "token_url = \"URL/token\", client_id = \"i\", client_secret = \"s\""
            return switch self {
            case .laterRequest: request("/first") + request("/second")
            case .page: request("/first", "page = { next = \"/items/next\" }")
            case .item: request("/first") + request("/${row:id}", "for_each = \"SELECT id FROM staged.item\"")
            case .redirect: request("/first")
            case .repetition: request("/first", "retries = 3")
            case .rest: request("/first", "retries = 3\nresume = true")
            case .token: request("/first") + request("/second", "auth = { oauth2 = { \(credentials) } }")
            }
        }

        /// The answer to the first request.
        var firstAnswer: [StubServer.Step] {
            switch self {
            case .redirect: [StubServer.head(302, ["Location": "/second", "Content-Length": "0"])]
            case .repetition, .rest: RetryAfterTests.cut
            case .laterRequest, .page, .item, .token:
                StubServer.response(
                    200, "<items><next>/second</next><item id='second'><name>n</name></item></items>")
            }
        }
    }

    /// An answer that breaks off within its body.
    private static let cut: [StubServer.Step] = [
        StubServer.head(200, ["Content-Length": "999", "ETag": "\"1\""]), .send(Array("<items><item id='1'>".utf8)),
        .close,
    ]

    private static func busy(_ status: Int, _ seconds: Int) -> [StubServer.Step] {
        StubServer.response(status, "", ["Retry-After": "\(seconds)"])
    }

    /// Runs the source `a`. Between its first request and the answer, a request of the source `b` to the same host is answered
    /// with 429 or 503.
    ///
    /// - Returns: the report of `a`.
    private func report(of kind: Kind, _ fixture: EngineFixture, _ status: Int, wait: Int) async throws -> RunReport {
        let (isAsked, isBusy) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        fixture.server.route("/first") { _ in
            isAsked.signal()
            isBusy.wait()
            isBusy.signal()
            return kind.firstAnswer
        }
        fixture.server.route("/busy") { _ in
            isAsked.wait()
            return Self.busy(status, wait)
        }
        fixture.server.document("/second", EngineFixture.items(["2"]))
        let sources = kind.requests + EngineFixture.request("/busy", of: "b")
        let service = try fixture.service(sources, clock: SystemClock())
        let reports = try await service.sync(mode: .force) { if $0.source == "b" { isBusy.signal() } }
        let report = try #require(reports.first { $0.source == "a" })
        try service.store.close()
        return report
    }

    private func due(_ fixture: EngineFixture, _ source: String) throws -> Double {
        let text = try #require(
            try fixture.rows("SELECT next_due FROM tributary_source WHERE source = '\(source)'").first)
        return try #require(StoreDate.date(text)).timeIntervalSinceNow
    }

    @Test(arguments: Kind.allCases, [429, 503])
    func noRequestIsSentDuringALongWait(_ kind: Kind, status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let report = try await report(of: kind, fixture, status, wait: 3600)
            #expect(Set(fixture.server.requests().map(\.path)) == ["/first", "/busy"], "\(report)")
            #expect(fixture.server.requests("/first").count == 1)
            #expect(report.outcome == .discarded)
            let error = report.error ?? ""
            #expect(error.contains("wants no request for ") && error.contains(" min more (Retry-After)"), "\(error)")
            #expect(try due(fixture, "a") > 3000)
        }
    }

    @Test(arguments: [Kind.laterRequest, .page, .item, .redirect])
    func aRunWaitsForAShortTime(_ kind: Kind) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let report = try await report(of: kind, fixture, 429, wait: 1)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(fixture.server.requests("/second").count == 1)
        }
    }

    /// The rest of a body is requested once, and its answer counts as that of any request.
    @Test(arguments: [429, 503])
    func theAnswerToTheRequestForARestIsObeyed(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/first") { request in
                request.headers["range"] == nil ? Self.cut : Self.busy(status, 3600)
            }
            fixture.server.document("/second", EngineFixture.items(["2"]))
            let report = try #require(await fixture.sync(Kind.rest.requests).first)
            #expect(report.outcome == .discarded && report.error?.contains("\(status)") == true, "\(report)")
            #expect(fixture.server.requests("/first").count == 2)
            #expect(try due(fixture, "a") > 3500)
            let other = try #require(await fixture.sync(EngineFixture.request("/second", of: "b")).first)
            #expect(other.outcome == .notDue && fixture.server.requests("/second").isEmpty, "\(other)")
        }
    }

    @Test func aRestIsRequestedAgainAfterAShortWait() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let (server, body) = (fixture.server, Array(EngineFixture.items(["1", "2"]).utf8))
            server.route("/first") { [unowned server] request in
                guard request.headers["range"] == "bytes=10-" else {
                    let head = StubServer.head(200, ["Content-Length": "\(body.count)", "ETag": "\"1\""])
                    return [head, .send(Array(body.prefix(10))), .close]
                }
                guard server.requests("/first").count > 2 else { return Self.busy(429, 1) }
                let range = "bytes 10-\(body.count - 1)/\(body.count)"
                return StubServer.response(
                    206, Array(body.dropFirst(10)), ["ETag": "\"1\"", "Content-Range": range])
            }
            let report = try #require(await fixture.sync(Kind.rest.requests).first)
            #expect(report.outcome == .committed && report.counts.inserted == 2, "\(report)")
            #expect(server.requests("/first").count == 3)
        }
    }

    /// Sources that share a client do not ask its token server one after another.
    @Test(arguments: [429, 503])
    func theAnswerOfATokenServerIsObeyed(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { (issuer) async throws in
                issuer.route("/token") { _ in Self.busy(status, 3600) }
                let client = "token_url = \"\(issuer.url)/token\", client_id = \"i\", client_secret = \"s\""
                let sources = ["a", "b"].map {
                    EngineFixture.request("/first", "auth = { oauth2 = { \(client) } }", of: $0)
                }.joined()
                let report = try #require(await fixture.sync(sources, ["a"]).first)
                #expect(report.outcome == .discarded && report.error?.contains("\(status)") == true, "\(report)")
                #expect(try due(fixture, "a") > 3500)
                #expect(try await fixture.sync(sources, ["b"]).first?.outcome == .notDue)
                #expect(issuer.requests().count == 1)
            }
        }
    }

    @Test(arguments: [
        (0.2, "1 s"), (119, "119 s"), (120, "2 min"), (3600, "60 min"), (7200, "2 h"), (172_799, "48 h"),
        (604_799.5, "7 days"), (604_800, "7 days"),
    ])
    func restsAreRoundedUp(seconds: Double, expected: String) {
        #expect(Duration.seconds(seconds).roughText == expected)
    }

    /// A wait does not become longer when the clock is set back, and ends for all origins by itself.
    @Test func aGateForgetsWaitsThatAreOver() {
        let clock = ManualClock()
        let gate = HostGate(HostRules(perHost: 2), uptime: { clock.uptime }, sleep: { try await clock.sleep(for: $0) })
        gate.close("http://a:80", for: .seconds(60))
        clock.advance(by: -400)
        #expect(gate.pause(of: "http://a:80") == .seconds(60) && gate.pause(of: "http://b:80") == nil)
        gate.close("http://a:80", for: .seconds(10))
        #expect(gate.pauses == ["http://a:80": .seconds(60)])
        clock.advance(by: 60)
        #expect(gate.pause(of: "http://a:80") == nil && gate.pauses.isEmpty)
        gate.close("http://b:80", for: .seconds(1))
        #expect(gate.looking { $0.closed.count } == 1)
    }
}
