import FeedConfiguration
import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryEngine

/// A clock on which the pauses between repetitions are short, and time limits take their time. No pause is left out: the engine
/// looks at what is idle again and again, and would do nothing else.
private struct HastyClock: RunClock {
    private let clock = SystemClock()

    var uptime: Duration { clock.uptime }
    func now() -> Date { clock.now() }
    func sleep(for duration: Duration) async throws {
        try await clock.sleep(for: duration > .seconds(10) ? duration : min(duration, .milliseconds(5)))
    }
    func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        clock.alarm(after: duration, action)
    }
}

/// A server whose answers break off, and whose document may become another one in between.
private final class CuttingServer: Sendable {
    private struct State {
        var random: SplitMix64
        var version = 0
        var cuts = 0
        var ranges = 0
    }

    private let state: Mutex<State>
    private let cutLimit: Int
    private let changes: Bool

    /// - Parameters:
    ///   - cuts: how many answers break off.
    ///   - changes: true where the document may change with each answer.
    init(seed: UInt64, cuts: Int, changes: Bool) {
        state = Mutex(State(random: SplitMix64(seed: seed)))
        cutLimit = cuts
        self.changes = changes
    }

    /// How many answers had a part of the document.
    var ranges: Int { state.withLock(\.ranges) }

    /// A name that says which version its document is.
    static func name(_ version: Int) -> String { Array(repeating: "v\(version)", count: 40).joined(separator: " ") }

    /// A document whose records all have the name of its version.
    static func document(_ version: Int) -> [UInt8] {
        Array(EngineFixture.items((0..<300 + version).map(String.init), name: name(version)).utf8)
    }

    func answer(_ request: StubServer.Request) -> [StubServer.Step] {
        state.withLock { state in
            if changes, state.random.next(upTo: 4) == 0 { state.version += 1 }
            let body = Self.document(state.version)
            var headers = ["ETag": "\"\(state.version)\"", "Content-Type": "application/xml"]
            var part = body[...]
            var status = 200
            if let range = request.headers["range"], request.headers["if-range"] == headers["ETag"],
                let offset = range.wholeMatch(of: /bytes=(\d+)-/).flatMap({ Int($0.1) })
            {
                state.ranges += 1
                part = body[offset...]
                status = 206
                headers["Content-Range"] = "bytes \(offset)-\(body.count - 1)/\(body.count)"
            }
            headers["Content-Length"] = "\(part.count)"
            let head = StubServer.head(status, headers)
            guard state.cuts < cutLimit else { return [head, .send(Array(part))] }
            state.cuts += 1
            return [head, .send(Array(part.prefix(Int(state.random.next(upTo: UInt64(part.count)))))), .close]
        }
    }
}

extension SplitMix64 {
    fileprivate mutating func next(upTo limit: UInt64) -> UInt64 { next() % limit }
}

/// Transfers that break off and go on where they stopped.
@Suite struct ResumeTests {
    private static let rows = "SELECT count(*), count(DISTINCT name), max(name) FROM item"

    private func source(_ options: String = "resume = true\nretries = 8") -> String {
        EngineFixture.request("/a", "sync = \"mirror\"\nmax_deleted = \"100%\"\n" + options)
    }

    @Test(arguments: 0..<6 as Range<UInt64>) func noByteComesTwiceOrIsLost(seed: UInt64) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let server = CuttingServer(seed: seed, cuts: 6, changes: false)
            fixture.server.route("/a", server.answer)
            let report = try #require(await fixture.sync(source(), clock: HastyClock()).first)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(try fixture.rows(Self.rows) == ["300|1|\(CuttingServer.name(0))"])
            #expect(server.ranges > 0)
        }
    }

    @Test(arguments: 0..<6 as Range<UInt64>) func versionsAreNeverMixed(seed: UInt64) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let server = CuttingServer(seed: seed, cuts: 8, changes: true)
            fixture.server.route("/a", server.answer)
            let report = try #require(
                await fixture.sync(source("resume = true\nretries = 30"), clock: HastyClock()).first)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            let row = try #require(try fixture.rows(Self.rows).first)
            let parts = row.split(separator: "|")
            let version = try #require(Int(parts[2].prefix { $0 != " " }.dropFirst()))
            #expect(row == "\(300 + version)|1|\(CuttingServer.name(version))")
        }
    }

    @Test func itGoesOnOnlyAsOftenAsRetriesSay() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let server = CuttingServer(seed: 1, cuts: 100, changes: false)
            fixture.server.route("/a", server.answer)
            let report = try #require(
                await fixture.sync(source("resume = true\nretries = 3"), clock: HastyClock()).first)
            #expect(report.outcome == .discarded)
            #expect(fixture.server.requests("/a").count == 4)
            #expect(try fixture.rows("SELECT count(*) FROM item") == ["0"])
        }
    }

    /// What an answer to the request for the rest may be wrong in, and what is done then: the body is read from its beginning.
    @Test(arguments: [
        ("ETag", "\"2\""), ("ETag", nil), ("Content-Range", "bytes 99-@/#"), ("Content-Range", "bytes 101-@/#"),
        ("Content-Range", "bytes 100-@/9999999"), ("Content-Range", "bytes 100-120/#"), ("Content-Range", ""),
        ("Content-Range", "bytes 100-99999999999999999999/#"), ("Content-Encoding", "gzip"),
        ("Last-Modified", "Tue, 24 Nov 2026 00:00:00 GMT"),
    ])
    func aRestThatDoesNotFit(header: String, value: String?) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = CuttingServer.document(0)
            let count = Mutex(0)
            fixture.server.route("/a") { request in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                var headers = ["ETag": "\"1\"", "Last-Modified": "Mon, 23 Nov 2026 00:00:00 GMT"]
                guard number == 2 else {
                    #expect(request.headers["range"] == nil)
                    headers["Content-Length"] = "\(body.count)"
                    let head = StubServer.head(200, headers)
                    return number == 1 ? [head, .send(Array(body.prefix(100))), .close] : [head, .send(body)]
                }
                #expect(request.headers["range"] == "bytes=100-" && request.headers["if-range"] == "\"1\"")
                headers["Content-Range"] = "bytes 100-\(body.count - 1)/\(body.count)"
                headers[header] = value?.replacing("@", with: "\(body.count - 1)").replacing("#", with: "\(body.count)")
                return StubServer.response(206, Array(body.dropFirst(100)), headers)
            }
            let report = try #require(await fixture.sync(source(), clock: HastyClock()).first)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(try fixture.rows("SELECT count(*) FROM item") == ["300"])
            #expect(fixture.server.requests("/a").count == 3)
        }
    }

    /// Neither response has the length of the body, so that nothing shows that the part is the rest.
    @Test func aRestWithoutALength() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = CuttingServer.document(0)
            let count = Mutex(0)
            fixture.server.route("/a") { request in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                var headers = ["ETag": "\"1\""]
                if number == 2 {
                    headers["Content-Range"] = "bytes 100-120/*"
                    return StubServer.response(206, Array(body[100...120]), headers)
                }
                #expect(request.headers["range"] == nil)
                guard number == 1 else { return StubServer.response(200, body, headers) }
                headers["Transfer-Encoding"] = "chunked"
                return [
                    StubServer.head(200, headers), .send(Array("64\r\n".utf8) + body.prefix(100)),
                    .send(Array("\r\n".utf8)), .close,
                ]
            }
            let report = try #require(await fixture.sync(source(), clock: HastyClock()).first)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(try fixture.rows("SELECT count(*) FROM item") == ["300"])
            #expect(fixture.server.requests("/a").count == 3)
        }
    }

    /// Answers of which no rest is asked for: nothing tells their version from another one for sure.
    @Test(arguments: [
        [:], ["ETag": "W/\"1\""], ["ETag": "1"], ["ETag": "\"1\"", "Accept-Ranges": "none"],
        ["Last-Modified": "Mon, 23 Nov 2026 00:00:00 GMT"],
        ["Last-Modified": "Mon, 23 Nov 2026 00:00:00 GMT", "Date": "Mon, 23 Nov 2026 00:00:00 GMT"],
        ["Last-Modified": "Mon, 23 Nov 2026 00:00:00 GMT", "Date": "Tue, 24 Nov 2026 00:00:00 GMT", "ETag": "W/\"1\""],
    ])
    func aVersionThatIsNotCertain(headers: [String: String]) async throws {
        try await expect(headers, range: nil)
    }

    @Test func aStrongTimeIsAValidator() async throws {
        let modified = "Mon, 23 Nov 2026 00:00:00 GMT"
        try await expect(["Last-Modified": modified, "Date": "Tue, 24 Nov 2026 00:00:00 GMT"], range: modified)
    }

    private func expect(_ headers: [String: String], range: String?) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = CuttingServer.document(0)
            let count = Mutex(0)
            fixture.server.route("/a") { request in
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst {
                    let length = ["Content-Length": "\(body.count)"]
                    return [
                        StubServer.head(200, headers.merging(length) { $1 }), .send(Array(body.prefix(100))), .close,
                    ]
                }
                #expect(request.headers["if-range"] == range)
                guard range != nil else { return StubServer.response(200, body, headers) }
                let part = ["Content-Range": "bytes 100-\(body.count - 1)/\(body.count)"]
                return StubServer.response(206, Array(body.dropFirst(100)), headers.merging(part) { $1 })
            }
            let report = try #require(await fixture.sync(source(), clock: HastyClock()).first)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(fixture.server.requests("/a").count == 2)
        }
    }

    @Test func withoutRetriesItIsAMistake() async throws {
        try await EngineFixture.expectMistake(source("resume = true"), "resume: requires 'retries'")
        try await EngineFixture.expectMistake(
            source("resume = true\nretries = 1\nmethod = \"POST\""), "resume: requires 'retries'")
    }
}
