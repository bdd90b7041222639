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
@testable import FeedFetching
@testable import TributaryEngine
import TributaryStores

/// The scorecard of polite polling (`polite-polling.md`), line by line: each test has the number of its line.
@Suite struct PolitePollingTests {
    private static let body = EngineFixture.items(["1"])

    private func source(_ path: String, cache: String? = "10m", _ options: String = "", request: String = "") -> String
    {
        "[sources.s]\n" + (cache.map { "cache = \"\($0)\"\n" } ?? "") + options + "\n"
            + EngineFixture.request(path, request)
    }

    /// Serves one answer after another, the last for ever.
    private func serve(_ fixture: EngineFixture, _ path: String, _ answers: [[StubServer.Step]]) {
        let count = Counter()
        fixture.server.route(path) { _ in
            count.enter()
            return answers[min(count.total, answers.count) - 1]
        }
    }

    private func ok(_ headers: [String: String] = [:], _ body: String = body) -> [StubServer.Step] {
        StubServer.response(200, body, headers)
    }

    private func due(_ fixture: EngineFixture, _ name: String = "s") throws -> Double {
        let text = try #require(
            try fixture.rows("SELECT next_due FROM tributary_source WHERE source = '\(name)'").first)
        return try #require(StoreDate.date(text)).timeIntervalSince(fixture.clock.now())
    }

    private func sync(_ fixture: EngineFixture, _ source: String, _ mode: RefreshMode = .whenDue) async throws
        -> RunReport
    {
        try #require(try await fixture.sync(source, mode: mode, clock: fixture.clock).first)
    }

    private func note(_ fixture: EngineFixture) throws -> String {
        try fixture.rows("SELECT note FROM tributary_source WHERE source = 's'").first ?? ""
    }

    // MARK: - Validators

    @Test func line01ValidatorsGoBackByteForByte() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let modified = "Sat, 21 Nov 2026 08:30:00 GMT"
            serve(fixture, "/a", [ok(["ETag": "W/\"a b\"", "Last-Modified": modified])])
            for _ in 0..<2 { _ = try await sync(fixture, source("/a"), .force) }
            let second = try #require(fixture.server.requests("/a").last)
            #expect(second.headers["if-none-match"] == "W/\"a b\"" && second.headers["if-modified-since"] == modified)
        }
    }

    @Test(arguments: [["ETag": "\"x\""], ["Last-Modified": "Sat, 21 Nov 2026 08:30:00 GMT"]])
    func line02OnlyWhatWasSentGoesBack(headers: [String: String]) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [ok(headers)])
            for _ in 0..<2 { _ = try await sync(fixture, source("/a"), .force) }
            let second = try #require(fixture.server.requests("/a").last)
            #expect(second.headers["if-none-match"] == headers["ETag"])
            #expect(second.headers["if-modified-since"] == headers["Last-Modified"])
        }
    }

    @Test func line03And04TheLatestValidatorsCount() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [ok(["ETag": "\"1\"", "Last-Modified": "x"]), ok(["ETag": "\"2\""])])
            for _ in 0..<3 { _ = try await sync(fixture, source("/a"), .force) }
            let third = try #require(fixture.server.requests("/a").last)
            #expect(third.headers["if-none-match"] == "\"2\"" && third.headers["if-modified-since"] == nil)
        }
    }

    @Test func line05A304BringsNewMetadata() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let later = "Sun, 22 Nov 2026 08:30:00 GMT"
            serve(
                fixture, "/a",
                [
                    ok(["ETag": "\"1\"", "Last-Modified": "Sat, 21 Nov 2026 08:30:00 GMT"]),
                    [StubServer.head(304, ["Last-Modified": later, "Cache-Control": "max-age=7200"])],
                ])
            for _ in 0..<3 { _ = try await sync(fixture, source("/a"), .force) }
            #expect(fixture.server.requests("/a").last?.headers["if-modified-since"] == later)
            #expect(try due(fixture) == 7200)
            #expect(try fixture.rows("SELECT id FROM item") == ["1"])
        }
    }

    @Test func line06And07ADiscardedRunKeepsTheOldValidators() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(
                fixture, "/a",
                [ok(["ETag": "\"1\""]), ok(["ETag": "\"2\""], "<items><broken></items>"), ok(["ETag": "\"3\""])])
            serve(fixture, "/b", [ok(["ETag": "\"b\""]), ok(["ETag": "\"b\""]), StubServer.response(500, "")])
            let stack = source("/a") + EngineFixture.request("/b")
            #expect(try await sync(fixture, stack, .force).outcome == .committed)
            #expect(try await sync(fixture, stack, .force).outcome == .discarded)
            #expect(try await sync(fixture, stack, .force).outcome == .committed)
            #expect(fixture.server.requests("/a")[2].headers["if-none-match"] == "\"1\"")
            #expect(try await sync(fixture, stack, .force).outcome == .discarded)
            _ = try await sync(fixture, stack, .force)
            #expect(fixture.server.requests("/a").last?.headers["if-none-match"] == "\"3\"")
        }
    }

    // MARK: - When to come back

    @Test(arguments: [
        ([String: String](), nil as String?, 86_400.0), (["ETag": "\"1\""], nil, 3600), (["ETag": "\"1\""], "5m", 300),
        ([:], "5m", 300),
    ])
    func line08TheDefaultSchedule(headers: [String: String], cache: String?, seconds: Double) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [ok(headers)])
            _ = try await sync(fixture, source("/a", cache: cache))
            #expect(try due(fixture) == seconds)
        }
    }

    @Test func line09MaxAgeIsHonoured() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let headers = ["ETag": "\"1\"", "Cache-Control": "public, max-age=43200", "Age": "3600"]
            serve(fixture, "/a", [ok(headers), [StubServer.head(304, headers)]])
            for _ in 0..<2 {
                _ = try await sync(fixture, source("/a"))
                #expect(try due(fixture) == 43_200 - 3600)
                #expect(try note(fixture).contains("max-age"))
                fixture.clock.advance(by: 39_599)
                #expect(try await sync(fixture, source("/a")).outcome == .notDue)
                fixture.clock.advance(by: 1)
            }
            _ = try await sync(fixture, source("/a", "honor_max_age = false"))
            #expect(try due(fixture) == 600)
        }
    }

    /// A source waits as long as the least of its responses allows, and no longer than `cache` where one says nothing.
    @Test(
        arguments: [
            (["max-age=86400", "max-age=7200"], 7200), (["max-age=86400", nil], 600), ([nil, "max-age=86400"], 600),
            (["max-age=86400", "no-cache"], 600), (["max-age=31536000, immutable", "max-age=60"], 600),
            (["private=\"a, max-age=60\", max-age=7200", "max-age=7200, max-age=9"], 7200),
        ] as [([String?], Double)])
    func line09TheLeastFreshResponseCounts(directives: [String?], seconds: Double) async throws {
        try await EngineFixture.with { (fixture) async throws in
            for (path, directive) in zip(["/a", "/b"], directives) {
                serve(fixture, path, [ok(directive.map { ["Cache-Control": $0] } ?? [:])])
            }
            _ = try await sync(fixture, source("/a") + EngineFixture.request("/b"))
            #expect(try due(fixture) == seconds)
            // The same of the pages of one request.
            let next = "<items><next>/b</next><item id='1'><name>n</name></item></items>"
            serve(fixture, "/a", [ok(directives[0].map { ["Cache-Control": $0] } ?? [:], next)])
            let paged = source("/a", request: "page = { next = \"/items/next\" }")
            #expect(try await sync(fixture, paged, .force).error == nil)
            #expect(fixture.server.requests("/b").count == 2)
            #expect(try due(fixture) == seconds)
        }
    }

    /// Without a `cache`, what a response says nothing of decides how often all are asked.
    @Test func line08AResponseWithoutValidatorsAmongOthers() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [ok(["Cache-Control": "max-age=60"])])
            serve(fixture, "/b", [ok(["ETag": "\"1\""]), ok()])
            let stack = source("/a", cache: nil) + EngineFixture.request("/b")
            _ = try await sync(fixture, stack)
            #expect(try due(fixture) == 3600)
            _ = try await sync(fixture, stack, .full)
            #expect(try due(fixture) == 86_400)
        }
    }

    @Test(arguments: [
        ["Cache-Control": "no-cache, max-age=9000"], ["Expires": "Thu, 01 Jan 1970 00:00:00 GMT"], ["Expires": "0"],
        ["Cache-Control": "max-age=nonsense"],
    ])
    func line10WhatIsStaleLeavesTheInterval(headers: [String: String]) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [ok(headers)])
            _ = try await sync(fixture, source("/a"))
            #expect(try due(fixture) == 600)
        }
    }

    @Test(arguments: [429, 503])
    func line11And12RetryAfter(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [StubServer.response(status, "", ["Retry-After": "7200"])])
            _ = try await sync(fixture, source("/a"))
            #expect(try due(fixture) == 7200)
            let date = "Fri, 15 Jan 2027 20:00:00 GMT"
            serve(fixture, "/a", [StubServer.response(status, "", ["Retry-After": date])])
            fixture.clock.advance(by: 7200)
            _ = try await sync(fixture, source("/a"))
            #expect(try due(fixture) == 36_000)
            fixture.clock.advance(by: 35_999)
            #expect(try await sync(fixture, source("/a")).outcome == .notDue)
            #expect(fixture.server.requests("/a").count == 2)
        }
    }

    @Test(arguments: [nil, "soon", "-5", "0", "1e999"])
    func line13WithoutRetryAfterTheBackOffGrows(retryAfter: String?) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [StubServer.response(429, "", retryAfter.map { ["Retry-After": $0] } ?? [:])])
            var waits: [Double] = []
            for _ in 0..<9 {
                _ = try await sync(fixture, source("/a"))
                waits.append(try due(fixture))
                fixture.clock.advance(by: waits[waits.count - 1])
            }
            #expect(waits[0] >= 48 && waits[4] > waits[0] * 4 && waits.allSatisfy { $0 <= 3600 * 1.2 }, "\(waits)")
        }
    }

    /// Whoever declares the source differently meanwhile does not make it ask at once.
    @Test func aBusyServerIsLeftAloneAlthoughTheSourceIsDeclaredDifferently() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [StubServer.response(503, "")])
            _ = try await sync(fixture, source("/a"))
            fixture.clock.advance(by: 30)
            let other = source("/a") + "timeout = \"7s\"\n"
            #expect(try await sync(fixture, other).outcome == .notDue)
            fixture.clock.advance(by: 31)
            #expect(try await sync(fixture, other).outcome == .discarded)
            #expect(fixture.server.requests("/a").count == 2)
        }
    }

    @Test func line14AHugeRetryAfterHasACap() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [StubServer.response(503, "", ["Retry-After": "99999999999"])])
            _ = try await sync(fixture, source("/a"))
            #expect(try due(fixture) == 7 * 86_400)
        }
    }

    @Test(arguments: [429, 503]) func line15TheWholeHostIsLeftAlone(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [StubServer.response(status, "", ["Retry-After": "1800"])])
            serve(fixture, "/b", [ok()])
            _ = try await sync(fixture, source("/a"))
            let other = source("/b").replacingOccurrences(of: "sources.s", with: "sources.t")
            #expect(try await sync(fixture, other, .force).outcome == .notDue)
            #expect(fixture.server.requests("/b").isEmpty)
            try await withStubServer { (elsewhere) async throws in
                elsewhere.document("/b", Self.body)
                let away = other.replacingOccurrences(of: "URL/b", with: elsewhere.url + "/b")
                #expect(try await sync(fixture, away).outcome == .committed)
            }
            fixture.clock.advance(by: 1801)
            #expect(try await sync(fixture, other, .force).outcome == .committed)
        }
    }

    @Test(arguments: [404, 500])
    func line16TenFailuresBackOffAndNeverStop(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", Array(repeating: StubServer.response(status, ""), count: 10) + [ok()])
            for _ in 0..<10 {
                _ = try await sync(fixture, source("/a"))
                #expect(try due(fixture) <= 3600 * 1.2)
                fixture.clock.advance(by: 3600 * 1.2)
            }
            #expect(try await sync(fixture, source("/a")).outcome == .committed)
        }
    }

    @Test func line17GoneIsGoneUntilTheDeclarationChanges() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [ok(), StubServer.response(410, "")])
            _ = try await sync(fixture, source("/a"))
            _ = try await sync(fixture, source("/a"), .force)
            #expect(try note(fixture).contains("gone permanently (410)"))
            fixture.clock.advance(by: 400 * 86_400)
            #expect(try await sync(fixture, source("/a")).outcome == .notDue)
            #expect(fixture.server.requests("/a").count == 2)
            #expect(try fixture.rows("SELECT id FROM item") == ["1"])
            // Switched off and on again.
            _ = try await fixture.sync(source("/a", "enabled = false"), mode: .whenDue, clock: fixture.clock)
            #expect(try await sync(fixture, source("/a")).outcome == .discarded)
            serve(fixture, "/b", [ok()])
            #expect(try await sync(fixture, source("/b")).outcome == .committed)
        }
    }

    @Test func line18RestartsDoNotBurst() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in [.hang] }
            for _ in 0..<5 {
                let service = try fixture.service(source("/a"), clock: fixture.clock)
                let running = Task { try await service.run() }
                while fixture.server.requests("/a").isEmpty { try await Task.sleep(for: .milliseconds(2)) }
                await service.heartbeat()
                running.cancel()
                try? await running.value
                try service.store.close()
                fixture.clock.advance(by: 10)
            }
            #expect(fixture.server.requests("/a").count == 1)
        }
    }

    @Test func line19AForcedRefreshIsConditional() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.body, etag: "\"1\"")
            #expect(try await sync(fixture, source("/a"), .force).outcome == .committed)
            #expect(try await sync(fixture, source("/a"), .force).outcome == .unchanged)
        }
    }

    @Test func line20PerHostAndJitter() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let active = Counter()
            let sources = (0..<50).map { index in
                fixture.server.route("/\(index)") { _ in
                    active.enter()
                    usleep(2000)
                    active.leave()
                    return StubServer.response(200, EngineFixture.items(["\(index)"]))
                }
                return source("/\(index)").replacingOccurrences(of: "sources.s", with: "sources.s\(index)")
            }.joined()
            let reports = try await fixture.sync("[daemon]\nconcurrency = 50\n" + sources, clock: fixture.clock)
            #expect(reports.allSatisfy { $0.outcome == .committed } && active.most <= 2, "\(active.most)")
            var plan = Schedule(try fixture.configuration(sources), states: [:], now: fixture.clock.now())
            let now = fixture.clock.now()
            for index in 0..<50 {
                plan.finished("s\(index)", nextDue: now + 600, now: now, jitter: Double(index) / 50)
            }
            #expect(plan.takeStarts(now: now + 599.9).isEmpty && plan.takeStarts(now: now + 600).count < 8)
        }
    }

    @Test func line21NeverTwoInFlight() async throws {
        var plan = try await EngineFixture.plan("cache = \"1s\"")
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(plan.takeStarts(now: now).count == 1)
        #expect(plan.takeStarts(now: now + 3600).isEmpty)
    }

    @Test func line22TheClockJumpsBack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [ok()])
            _ = try await sync(fixture, source("/a"))
            fixture.clock.advance(by: -400 * 86_400)
            #expect(try await sync(fixture, source("/a")).outcome == .notDue)
            let configuration = try fixture.configuration(source("/a"))
            let store = try #require(try configuration.openExistingStore())
            let state = try #require(try store.read { try $0.sources.all() }["s"])
            try store.close()
            let configured = try #require(configuration[source: "s"])
            #expect(DueTime.start(configured, state: state, now: fixture.clock.now()) == fixture.clock.now() + 600)
        }
    }

    // MARK: - Redirects

    @Test func line23PermanentRedirectsAreBelievedAfterThree() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/old") { _ in [StubServer.head(301, ["Location": "/new", "Content-Length": "0"])] }
            serve(fixture, "/new", [ok()])
            for _ in 0..<5 { #expect(try await sync(fixture, source("/old"), .force).outcome != .discarded) }
            #expect(fixture.server.requests("/old").count == 3 && fixture.server.requests("/new").count == 5)
            #expect(try note(fixture).contains("request '1' has moved permanently to \(fixture.server.url)/new"))
        }
    }

    @Test(arguments: [302, 303, 307])
    func line24OtherRedirectsAreNot(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/old") { _ in [StubServer.head(status, ["Location": "/new", "Content-Length": "0"])] }
            serve(fixture, "/new", [ok()])
            for _ in 0..<5 { _ = try await sync(fixture, source("/old"), .force) }
            #expect(fixture.server.requests("/old").count == 5)
        }
    }

    @Test func line25SecretsStayAtTheirOrigin() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { (elsewhere) async throws in
                fixture.server.route("/a") { _ in
                    [StubServer.head(308, ["Location": elsewhere.url + "/b", "Content-Length": "0"])]
                }
                elsewhere.document("/b", Self.body)
                let request = source("/a", request: "headers = { Authorization = \"Basic x\", X-Key = \"k\" }")
                for _ in 0..<5 { #expect(try await sync(fixture, request, .force).outcome != .discarded) }
                #expect(
                    elsewhere.requests("/b").allSatisfy {
                        $0.headers["authorization"] == nil && $0.headers["x-key"] == nil
                    })
                #expect(fixture.server.requests("/a").first?.headers["x-key"] == "k")
            }
        }
    }

    @Test func line26ARedirectLoopEnds() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in [StubServer.head(301, ["Location": "/a", "Content-Length": "0"])] }
            #expect(try await sync(fixture, source("/a")).error?.contains("redirects more than 5 times") == true)
            #expect(fixture.server.requests("/a").count == 6)
        }
    }

    // MARK: - Bodies

    @Test func line27CompressionIsOfferedAndLimited() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [StubServer.response(200, Gzip.compressed(Self.body), ["Content-Encoding": "gzip"])])
            #expect(try await sync(fixture, source("/a")).outcome == .committed)
            #expect(fixture.server.requests("/a").first?.headers["accept-encoding"] == "gzip, deflate")
            serve(fixture, "/b", [StubServer.response(200, Gzip.bomb, ["Content-Encoding": "gzip"])])
            let bomb = try await sync(fixture, source("/b", request: "max_body = \"1MiB\""), .force)
            #expect(bomb.error?.contains("larger than max_body") == true)
        }
    }

    /// A cut, a portal's page, an entity, an empty body: the old rows stay.
    @Test(arguments: [
        (28, [StubServer.head(200, ["Content-Length": "999"]), .send(Array("<items>".utf8)), .close]),
        (28, [StubServer.head(200, ["Transfer-Encoding": "chunked"]), .send(Array("7\r\n<items>\r\n".utf8)), .close]),
        (
            30,
            StubServer.response(200, "<!DOCTYPE html><html><body>Log in</body></html>", ["Content-Type": "text/html"])
        ),
        (31, StubServer.response(200, "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><items>&e;</items>")),
        (32, StubServer.response(200, "")),
    ])
    func lines28And30To32WhatIsNoFeedDeletesNothing(line: Int, answer: [StubServer.Step]) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [ok(), answer])
            let mirror = source("/a", request: "sync = \"mirror\"")
            _ = try await sync(fixture, mirror)
            #expect(try await sync(fixture, mirror, .force).outcome == .discarded)
            #expect(try fixture.rows("SELECT id FROM item") == ["1"])
        }
    }

    @Test func line29TheCharsetOfTheTransportOverrulesTheDocument() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let latin =
                Array("<?xml version='1.0' encoding='UTF-8'?><items><item id='1'><name>".utf8) + [0xE9]
                + Array("</name></item></items>".utf8)
            serve(
                fixture, "/a",
                [StubServer.response(200, latin, ["Content-Type": "text/xml; charset=ISO-8859-1; charset=utf-8"])])
            #expect(try await sync(fixture, source("/a")).outcome == .committed)
            #expect(try fixture.rows("SELECT name FROM item") == ["é"])
        }
    }

    // MARK: - Manners

    @Test func line33EveryRequestSaysWhoAsks() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", [ok(["Set-Cookie": "a=b"])])
            for _ in 0..<2 { _ = try await sync(fixture, source("/a"), .force) }
            for request in fixture.server.requests("/a") {
                #expect(request.headers["user-agent"]?.contains("Tributary/\(TributaryVersion.version) (+http") == true)
                #expect(request.headers["referer"] == nil && request.headers["cookie"] == nil && request.query.isEmpty)
            }
            _ = try await sync(
                fixture, source("/a", request: "headers = { User-Agent = \"me (+mailto:me@example.org)\" }"), .force)
            #expect(fixture.server.requests("/a").last?.headers["user-agent"] == "me (+mailto:me@example.org)")
        }
    }

    @Test func line34APostIsNotRepeated() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let cut: [StubServer.Step] = [
                StubServer.head(200, ["Content-Length": "999"]), .send(Array("<items>".utf8)), .close,
            ]
            serve(fixture, "/a", [cut, ok()])
            serve(fixture, "/b", [cut, ok()])
            serve(fixture, "/c", [cut, ok()])
            #expect(
                try await sync(fixture, source("/a", request: "method = \"POST\"\nretries = 2"), .force).outcome
                    == .discarded)
            #expect(fixture.server.requests("/a").count == 1)
            let unsafe = source("/b", request: "method = \"POST\"\nretries = 2\nretry_unsafe = true")
            #expect(try await fixture.sync(unsafe).first?.outcome == .committed)
            #expect(try await fixture.sync(source("/c", request: "retries = 2")).first?.outcome == .committed)
            #expect(fixture.server.requests("/c").count == 2)
        }
    }
}

extension EngineFixture {
    /// A plan of one source, made without a server.
    static func plan(_ options: String) async throws -> Schedule {
        try await withTemporaryFolder { folder in
            let text =
                "[sources.s]\n\(options)\n[[sources.s.requests]]\nurl = \"http://example.org/\"\nparser = \"ItemsParser\"\n"
            let configuration = try TributaryConfiguration(
                file: folder.write(text, to: "sources.toml"), parsers: registry, environment: [:])
            return Schedule(configuration, states: [:], now: Date(timeIntervalSince1970: 1_800_000_000))
        }
    }
}

extension Schedule {
    /// Where everything is let in.
    fileprivate mutating func takeStarts(now: Date) -> [Start] {
        takeStarts(now: now) { _ in .admitted(RunPermit()) }
    }
}
