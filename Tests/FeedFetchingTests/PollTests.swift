import FeedFetching
import FeedModel
import TestEngine
import TestSupport
import Testing

/// Runs that are answered with 304, and those that go on from there with a body.
@Suite struct PollTests {
    private let stack =
        "[sources.s]\n" + EngineFixture.request("/a") + EngineFixture.request("/b") + EngineFixture.request("/c")

    private func serve(_ fixture: EngineFixture, _ path: String, _ ids: [String], etag: String) {
        fixture.server.document(path, EngineFixture.items(ids), etag: "\"\(etag)\"")
    }

    @Test func theFirstBodyIsReadFromTheResponseThatWasAsked() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for path in ["a", "b", "c"] { serve(fixture, "/" + path, [path], etag: "1") }
            try await fixture.sync(stack)
            serve(fixture, "/b", ["b", "b2"], etag: "2")
            let report = try #require(try await fixture.sync(stack).first)
            #expect(report.outcome == .committed)
            #expect(report.requests.map(\.outcome) == [.unchanged, .parsed, .unchanged])
            #expect(report.requests.map(\.status) == [304, 200, 304])
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["a", "b", "b2", "c"])
            #expect(try await fixture.sync(stack).first?.outcome == .unchanged)
            for path in ["/a", "/b", "/c"] { #expect(fixture.server.requests(path).count == 3) }
            #expect(fixture.server.requests("/b").last?.headers["if-none-match"] == "\"2\"")
        }
    }

    /// The permit of the response that was found is given back before the next request needs one.
    @Test(.timeLimit(.minutes(1)), arguments: ["/a", "/b"])
    func aStackNeedsOnePermitOfItsHost(changed: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source =
                "[daemon]\nper_host = 1\n[sources.s]\n" + EngineFixture.request("/a", "sync = \"mirror\"")
                + EngineFixture.request("/b", "sync = \"mirror\"")
            serve(fixture, "/a", ["a"], etag: "1")
            serve(fixture, "/b", ["b"], etag: "1")
            try await fixture.sync(source)
            serve(fixture, changed, ["c"], etag: "2")
            let report = try #require(try await fixture.sync(source).first)
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(
                try fixture.rows("SELECT id FROM item ORDER BY id") == (changed == "/a" ? ["b", "c"] : ["a", "c"]))
        }
    }

    /// A process that dies while it waits for a server has done nothing that killed it.
    @Test func anAttemptIsNotedBeforeABodyIsParsed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", ["1"], etag: "1")
            let source = "[sources.s]\n" + EngineFixture.request("/a")
            try await fixture.sync(source)
            let attempts = Mutex<[String]>([])
            @Sendable func note() {
                let found = try? fixture.rows("SELECT attempts FROM tributary_source")
                attempts.withLock { $0 += found ?? ["unknown"] }
            }
            fixture.server.route("/a") { _ in
                note()
                return [StubServer.head(304, [:])]
            }
            #expect(try await fixture.sync(source).first?.outcome == .unchanged)
            #expect(attempts.withLock(\.self) == ["0"])
        }
    }

    @Test func aBodyThatBreaksOffIsAskedForAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", ["1"], etag: "1")
            let source = "[sources.s]\n" + EngineFixture.request("/a", "retries = 1")
            try await fixture.sync(source)
            let count = Counter()
            fixture.server.route("/a") { _ in
                count.enter()
                guard count.total == 1 else { return StubServer.response(200, EngineFixture.items(["1", "2"])) }
                return [StubServer.head(200, ["Content-Length": "1000"]), .send(Array("<items>".utf8)), .close]
            }
            #expect(try await fixture.sync(source).first?.outcome == .committed)
            #expect(count.total == 2)
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "2"])
        }
    }

    /// The request's timeout covers what the poll has waited for, and what the refresh reads.
    @Test func headAndBodyShareTheTimeout() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, "/a", ["1"], etag: "1")
            let source = "[sources.s]\n" + EngineFixture.request("/a", "timeout = \"300ms\"")
            try await fixture.sync(source)
            fixture.server.route("/a") { _ in
                [StubServer.head(200, ["Content-Length": "1000"]), .send(Array("<items>".utf8)), .hang]
            }
            let report = try #require(try await fixture.sync(source).first)
            #expect(report.outcome == .discarded)
            #expect(report.error?.contains("the body was not complete within") == true, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT id FROM item") == ["1"])
        }
    }
}
