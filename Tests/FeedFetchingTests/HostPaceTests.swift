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

extension HostGate {
    /// The origins of runs that wait for the rate limit of their hosts.
    fileprivate var limited: Set<Origin> {
        looking { queues in Set(queues.rules.pacedKeys.flatMap { queues.hosts[$0]?.refused ?? [] }) }
    }
}

/// `[hosts]`: how many requests a host gets, and how often.
@Suite(.timeLimit(.minutes(10))) struct HostPaceTests {
    private static func hosts(_ rules: String) -> String { "[hosts.\"127.0.0.1\"]\n\(rules)\n" }

    /// When each request came to a fixture's server, by its clock.
    private final class Arrivals: Sendable {
        private let dates = Mutex<[(path: String, date: Date)]>([])
        let start: Date

        init(_ fixture: EngineFixture, _ paths: [String], _ answer: @escaping @Sendable (String) -> [StubServer.Step]) {
            start = fixture.clock.now()
            for path in paths {
                fixture.server.route(path) { [self, clock = fixture.clock] _ in
                    dates.withLock { $0.append((path, clock.now())) }
                    return answer(path)
                }
            }
        }

        var paths: [String] { dates.withLock { $0.map(\.path) } }
        var seconds: [Double] { dates.withLock { $0.map { $0.date.timeIntervalSince(start) } } }
    }

    /// Waits until something is true that other threads bring about.
    private func wait(until isTrue: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let patience = ContinuousClock.now + .seconds(180)
        while !isTrue(), ContinuousClock.now < patience { try await Task.sleep(for: .milliseconds(2)) }
        #expect(isTrue(), sourceLocation: sourceLocation)
    }

    private static func items(_ path: String) -> [StubServer.Step] {
        StubServer.response(200, EngineFixture.items(["1"]))
    }

    @Test func requestsToAHostBeginOneAfterAnother() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let names = (0..<5).map { "s\($0)" }
            let arrivals = Arrivals(fixture, names.map { "/\($0)" }, Self.items)
            let sources = names.map { EngineFixture.request("/\($0)", of: $0) }.joined()
            let service = try fixture.service(Self.hosts("pace = \"60s\"") + sources, clock: fixture.clock)
            let running = Task { try await service.run() }
            var outcomes = service.outcomes.makeAsyncIterator()
            for number in 0..<5 {
                #expect(await outcomes.next()?.outcome == .committed)
                fixture.clock.advance(by: 59)
                await service.heartbeat()
                #expect(arrivals.paths.count == number + 1)
                fixture.clock.advance(by: 1)
                await service.heartbeat()
            }
            #expect(Set(arrivals.paths) == Set(names.map { "/\($0)" }))
            #expect(arrivals.seconds == [0, 60, 120, 180, 240])
            running.cancel()
            try? await running.value
            try service.store.close()
        }
    }

    /// Redirects, pages, rows and the requests of a stack wait, too, and the wait counts towards no timeout.
    @Test func redirectsPagesAndRowsKeepThePaceAndTheirTimeouts() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let arrivals = Arrivals(fixture, ["/moved", "/page1", "/page2", "/one", "/two"]) { path in
                switch path {
                case "/moved": [StubServer.head(302, ["Location": "/page1", "Content-Length": "0"])]
                case "/page1": StubServer.response(200, "<r><next>/page2</next><item id='one'/></r>")
                case "/page2": StubServer.response(200, "<r><item id='two'/></r>")
                default: StubServer.response(200, "<r><name>\(path)</name></r>")
                }
            }
            let source = """
                [sources.s]
                timeout = "5s"
                [[sources.s.requests]]
                url = "URL/moved"
                page = { next = "/r/next" }
                tables = [{ table = "thing", element = "item", key = ["id"], columns = { id = "@id" } }]
                [[sources.s.requests]]
                url = "URL/${row:id}"
                for_each = "SELECT id FROM staged.thing ORDER BY id"
                concurrency = 1
                tables = [{ table = "name", element = "r", key = ["name"], columns = { name = "name" } }]
                """
            let service = try fixture.service(Self.hosts("pace = \"1m\"") + source, clock: fixture.clock)
            let syncing = Task { try await service.sync(mode: .force) }
            for number in 1..<5 {
                let turn = arrivals.start + Double(number) * 60
                try await wait { fixture.clock.wakes.contains(turn) }
                #expect(arrivals.paths.count == number)
                fixture.clock.advance(by: 60)
            }
            let report = try #require(try await syncing.value.first)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            // What a request waited for its host is not its time.
            #expect(report.requests.map(\.seconds) == [0, 0])
            #expect(arrivals.paths == ["/moved", "/page1", "/page2", "/one", "/two"])
            #expect(arrivals.seconds == [0, 60, 120, 180, 240])
            try service.store.close()
        }
    }

    /// A timeout still counts what is the server's.
    @Test(.timeLimit(.minutes(10))) func aServerThatHangsAfterAWaitIsTimedOut() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let arrivals = Arrivals(fixture, ["/a", "/b"]) { $0 == "/a" ? Self.items($0) : [.hang] }
            let stack = EngineFixture.request("/a") + EngineFixture.request("/b", "timeout = \"20s\"")
            let service = try fixture.service(Self.hosts("pace = \"1m\"") + stack, clock: fixture.clock)
            let syncing = Task { try await service.sync(mode: .force) }
            try await wait { fixture.clock.wakes.contains(arrivals.start + 60) }
            fixture.clock.advance(by: 60)
            try await wait { arrivals.paths == ["/a", "/b"] && fixture.clock.wakes.contains(arrivals.start + 80) }
            fixture.clock.advance(by: 20)
            let report = try #require(try await syncing.value.first)
            #expect(report.error?.contains("within 20 s") == true, "\(String(describing: report.error))")
            try service.store.close()
        }
    }

    @Test(.timeLimit(.minutes(10))) func whoWaitsForATurnLeavesTheSlotToOthersAndStopsAtOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { other in
                other.document("/a", EngineFixture.items(["1"]))
                fixture.server.document("/a", EngineFixture.items(["2"]))
                fixture.server.document("/b", EngineFixture.items(["3"]))
                let hosts = "[daemon]\nconcurrency = 1\n[hosts.\"127.0.0.1:\(fixture.server.port)\"]\npace = \"1d\"\n"
                // The stack waits in its middle, and would hold the only slot for a day.
                let stack = EngineFixture.request("/a", of: "a") + EngineFixture.request("/b", of: "a")
                let waiting = EngineFixture.request("/a", of: "b")
                let healthy = EngineFixture.request("/a", of: "healthy").replacingOccurrences(
                    of: "URL", with: other.url)
                let service = try fixture.service(hosts + stack + waiting + healthy, clock: fixture.clock)
                let running = Task { try await service.run() }
                var outcomes = service.outcomes.makeAsyncIterator()
                // A run is seen to wait by the clock. Far less than a day passes.
                let ticking = Task {
                    while !Task.isCancelled {
                        fixture.clock.advance(by: 0.1)
                        try await Task.sleep(for: .milliseconds(10))
                    }
                }
                #expect(await outcomes.next()?.source == "healthy")
                ticking.cancel()
                // The wait for the host would be of a day that never comes.
                running.cancel()
                try? await running.value
                #expect(fixture.server.requests("/b").isEmpty)
                try service.store.close()
            }
        }
    }

    @Test func aReloadChangesThePace() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let names = (0..<4).map { "s\($0)" }
            let arrivals = Arrivals(fixture, names.map { "/\($0)" }, Self.items)
            let sources = names.map { EngineFixture.request("/\($0)", of: $0) }.joined()
            let service = try fixture.service(Self.hosts("pace = \"1d\"") + sources, clock: fixture.clock)
            let running = Task { try await service.run() }
            var outcomes = service.outcomes.makeAsyncIterator()
            #expect(await outcomes.next()?.outcome == .committed)
            fixture.clock.advance(by: 30)
            await service.heartbeat()
            #expect(arrivals.paths.count == 1)
            service.reload(try fixture.configuration(Self.hosts("pace = \"30s\"") + sources))
            #expect(await outcomes.next() != nil)
            // Without a pace, at once: the clock stands still.
            await service.heartbeat()
            #expect(arrivals.paths.count == 2)
            service.reload(try fixture.configuration(sources))
            for _ in 0..<2 { #expect(await outcomes.next() != nil) }
            #expect(arrivals.seconds == [0, 30, 30, 30])
            running.cancel()
            try? await running.value
            try service.store.close()
        }
    }

    @Test func thePaceOutlivesTheProcess() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let arrivals = Arrivals(fixture, ["/a"], Self.items)
            let source = Self.hosts("pace = \"60s\"") + EngineFixture.request("/a")
            try await fixture.sync(source, clock: fixture.clock)
            fixture.clock.advance(by: 30)
            let service = try fixture.service(source, clock: fixture.clock)
            let syncing = Task { try await service.sync(mode: .force) }
            try await wait { fixture.clock.wakes.contains(arrivals.start + 60) }
            #expect(arrivals.paths.count == 1)
            fixture.clock.advance(by: 30)
            _ = try await syncing.value
            #expect(arrivals.seconds == [0, 60])
            try service.store.close()
        }
    }

    /// One of the known limits (Documentation/KnownLimits.md).
    @Test func aHostThatIsReachedByARedirectIsForgottenByARestart() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { (other) async throws in
                other.document("/b", EngineFixture.items(["1"]))
                fixture.server.route("/a") { _ in
                    [StubServer.head(302, ["Location": other.url + "/b", "Content-Length": "0"])]
                }
                let host = other.url.replacing("http://", with: "")
                let source = "[hosts.\"\(host)\"]\npace = \"1d\"\n" + EngineFixture.request("/a")
                for count in 1...2 {
                    #expect(try await fixture.sync(source, clock: fixture.clock).first?.error == nil)
                    #expect(other.requests("/b").count == count)
                }
            }
        }
    }

    /// A run that was killed, or stopped in its middle, has asked later than the last one ended.
    @Test(.onEachStore) func aRunThatDidNotEndCountsToo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let arrivals = Arrivals(fixture, ["/a"], Self.items)
            let source = Self.hosts("pace = \"60s\"") + EngineFixture.request("/a")
            try await fixture.sync(source, clock: fixture.clock)
            fixture.clock.advance(by: 100)
            let service = try fixture.service(source, clock: fixture.clock)
            try await service.store.writeInGroup {
                try $0.sources.recordAttempt(
                    of: "s", number: 1, wait: 20, declared: try #require(service.configuration[source: "s"]).identity,
                    now: fixture.clock.now())
            }
            fixture.clock.advance(by: 30)
            let syncing = Task { try await service.sync(mode: .force) }
            try await wait { fixture.clock.wakes.contains(arrivals.start + 160) }
            fixture.clock.advance(by: 30)
            _ = try await syncing.value
            #expect(arrivals.seconds == [0, 160])
            try service.store.close()
        }
    }

    /// How many are under way, and how many at most.
    private final class Counts: Sendable {
        private let numbers = Mutex<(now: Int, most: Int)>((0, 0))

        func enter() {
            numbers.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
        }

        func leave() { numbers.withLock { $0.now -= 1 } }

        var most: Int { numbers.withLock(\.most) }
    }

    private static let minute = HostRules.Rule(pace: .seconds(60))

    private func gate(_ clock: ManualClock) -> HostGate {
        HostGate(
            HostRules(perHost: 2, ["e.org": Self.minute]), uptime: { clock.uptime },
            sleep: { try await clock.sleep(for: $0) })
    }

    /// Where a permit was refused, and one may be had now.
    private final class Freed: Sendable {
        private let origins = Mutex<[Origin]>([])

        init(_ gate: HostGate) { gate.onFree { [weak self] freed in self?.origins.withLock { $0 += freed } } }

        func take() -> [Origin] {
            origins.withLock { origins in
                defer { origins = [] }
                return origins
            }
        }
    }

    /// A feed that has moved to https, or whose token is got elsewhere at the same host.
    @Test(.timeLimit(.minutes(10))) func aReservationIsForAllOriginsOfItsHost() async throws {
        let clock = ManualClock()
        let gate = gate(clock)
        let freed = Freed(gate)
        let permit = try #require(gate.start(at: "http://e.org:80"))
        #expect(gate.start(at: "https://e.org:443") == nil)
        try await permit.waitToSend(to: "https://e.org:443", nil)
        permit.release()
        // It is used, and so the host rests for a minute.
        #expect(gate.start(at: "http://e.org:80") == nil)
        try await wait { clock.wakes == [clock.now() + 60] }
        clock.advance(by: 60)
        try await wait { gate.limited.isEmpty }
        #expect(freed.take() == ["https://e.org:443", "http://e.org:80"])
    }

    @Test(.timeLimit(.minutes(10))) func aReservationEndsWhereTheRequestGoesElsewhere() async throws {
        let gate = gate(ManualClock())
        let permit = try #require(gate.start(at: "http://e.org:80"))
        try await permit.waitToSend(to: "http://moved.org:80", nil)
        // Others need not wait for the end of the run.
        let other = try #require(gate.start(at: "http://e.org:80"))
        permit.release()
        other.release()
    }

    @Test func newRulesLeaveNoHostReserved() throws {
        let gate = gate(ManualClock())
        let permit = try #require(gate.start(at: "http://e.org:8080"))
        gate.setRules(HostRules(perHost: 2, ["e.org": Self.minute, "e.org:8080": Self.minute]))
        try #require(gate.start(at: "http://e.org:80")).release()
        #expect(gate.start(at: "http://e.org:8080") == nil)
        permit.release()
        try #require(gate.start(at: "http://e.org:8080")).release()
    }

    /// Of those who wait, only names are kept, and they come in the order in which they came.
    @Test(.timeLimit(.minutes(10))) func tenThousandSourcesOfOneHostTakeTurns() async throws {
        let clock = ManualClock()
        let gate = gate(clock)
        let freed = Freed(gate)
        let origins: [Origin] = ["https://e.org:443", "http://e.org:80"]
        var queue = StartQueue()
        for number in 0..<10_000 { queue.add("s\(number)", origin: origins[number % 2], isSuspect: false) }
        func start() -> (name: String, permit: RunPermit)? {
            for origin in freed.take() { queue.free(origin) }
            return queue.next(at: Date()) { origin in
                guard let permit = origin.flatMap(gate.start) else { return .hostIsFull }
                return .admitted(RunPermit(host: permit))
            }
        }
        var started: [String] = []
        for _ in 0..<200 {
            // The gate tells what is free after nobody is limited any more.
            var next: (name: String, permit: RunPermit)?
            try await wait {
                next = next ?? start()
                return next != nil
            }
            let run = try #require(next)
            started.append(run.name)
            // Within one minute, one of them.
            #expect(start() == nil)
            try await run.permit.host?.waitToSend(to: origins[(started.count - 1) % 2], nil)
            run.permit.release()
            #expect(start() == nil)
            try await wait { clock.wakes.contains(clock.now() + 60) }
            clock.advance(by: 60)
            try await wait { gate.limited.isEmpty }
        }
        #expect(started == (0..<200).map { "s\($0)" })
    }

    /// Whoever waits in the middle of a run comes before runs that are to begin, and leaves nothing behind where it is
    /// cancelled.
    @Test(.timeLimit(.minutes(10))) func thoseWhoHaveBegunComeFirst() async throws {
        let clock = ManualClock()
        let gate = gate(clock)
        let permits = [try await gate.permit(at: "http://e.org:80"), try await gate.permit(at: "http://e.org:80")]
        try await permits[0].waitToSend(to: "http://e.org:80", nil)
        let sending = permits.map { permit in Task { try await permit.waitToSend(to: "http://e.org:80", nil) } }
        let arriving = Task { try await gate.permit(at: "https://e.org:443") }
        try await wait { clock.wakes.contains(clock.now() + 60) }
        arriving.cancel()
        await #expect(throws: CancellationError.self) { try await arriving.value }
        clock.advance(by: 60)
        try await wait { clock.wakes.contains(clock.now() + 60) }
        sending[1].cancel()
        sending[0].cancel()
        let ends = [await sending[0].result, await sending[1].result]
        #expect(ends.count { if case .success = $0 { true } else { false } } == 1)
        #expect(gate.start(at: "http://e.org:80") == nil)
        for permit in permits { permit.release() }
        clock.advance(by: 60)
        try await wait { gate.limited.isEmpty }
        try #require(gate.start(at: "http://e.org:80")).release()
    }

    @Test(arguments: [
        ("https://www.example.com:443", "www.example.com"), ("http://WWW.example.com:80", "www.example.com"),
        ("http://www.example.com:8080", "www.example.com:8080"), ("http://example.com:80", "http://example.com:80"),
        ("http://[::1]:80", "[::1]"),
        ("https://www.example.com.:443", "www.example.com"), ("http://2130706433:80", "127.0.0.1"),
        ("http://0x7f.1:8080", "127.0.0.1:8080"), ("file:", "file:"),
    ])
    func anOriginIsCountedUnderItsHost(url: String, key: String) throws {
        let rules = HostRules(
            perHost: 3,
            [
                "www.example.com": .init(perHost: 1), "www.example.com:8080": .init(perHost: 7), "[::1]": .init(),
                "127.0.0.1": .init(), "127.0.0.1:8080": .init(),
            ])
        #expect(rules.key(of: try #require(URL(string: url)).origin) == key)
        #expect(rules.limit(at: key) == ["www.example.com": 1, "www.example.com:8080": 7][key, default: 3])
    }

    /// Whoever is redirected to a host counts there, and not any more where he came from.
    @Test func redirectsTakeAPlaceAtTheirHost() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { other in
                let counts = Counts()
                let open = DispatchSemaphore(value: 0)
                other.route("/feed") { _ in
                    counts.enter()
                    open.wait()
                    counts.leave()
                    return StubServer.response(200, EngineFixture.items(["1"]))
                }
                for number in 0..<4 {
                    fixture.server.route("/\(number)") { _ in
                        [StubServer.head(302, ["Location": other.url + "/feed", "Content-Length": "0"])]
                    }
                }
                fixture.server.document("/free", EngineFixture.items(["2"]))
                let hosts =
                    "[hosts.\"127.0.0.1:\(other.port)\"]\nper_host = 1\n[hosts.\"127.0.0.1:\(fixture.server.port)\"]\nper_host = 1\n"
                let moved = (0..<4).map { EngineFixture.request("/\($0)", of: "s\($0)") }.joined()
                let service = try fixture.service(
                    hosts + moved + EngineFixture.request("/free", of: "z"), clock: fixture.clock)
                let syncing = Task { try await service.sync(mode: .force) }
                // Those who wait for the other host hold no place at theirs.
                try await wait {
                    fixture.server.requests("/free").count == 1
                        && (0..<4).allSatisfy { fixture.server.requests("/\($0)").count == 1 }
                }
                for _ in 0..<4 { open.signal() }
                let reports = try await syncing.value
                #expect(reports.allSatisfy { $0.outcome != .discarded }, "\(reports.compactMap(\.error))")
                #expect(counts.most == 1 && other.requests("/feed").count == 4)
                try service.store.close()
            }
        }
    }

    @Test func newRulesCountWhatIsTaken() async throws {
        let gate = HostGate(limit: 2)
        let freed = Freed(gate)
        var permits = [gate.start(at: "http://a:80"), gate.start(at: "https://a:443")]
        gate.setRules(HostRules(perHost: 2, ["a": .init(perHost: 3)]))
        permits.append(gate.start(at: "http://a:80"))
        #expect(permits.allSatisfy { $0 != nil } && gate.start(at: "http://a:8080") == nil)
        gate.setRules(HostRules(perHost: 1))
        #expect(freed.take() == ["http://a:8080"])
        #expect(gate.start(at: "https://a:443") == nil)
        for permit in permits { permit?.release() }
        try #require(gate.start(at: "https://a:443")).release()
    }

    @Test(arguments: [
        ("[hosts.\"https://e.org/\"]\npace = \"1s\"", "is not a host; write [hosts.\"www.example.com\"]"),
        ("[hosts.\"e.org\"]\npace = 60", "hosts.\"e.org\".pace: expected a duration"),
        ("[hosts.\"e.org\"]\npcae = \"1s\"", "did you mean 'pace'?"),
        ("[hosts.\"e.org\"]\nper_host = 0", "expected an integer above 0"),
        ("[hosts.\"e.org\"]\npace = \"1s\"\n[hosts.\"E.org\"]\npace = \"2s\"", "declared twice"),
        ("[hosts.\"e.org\"]\npace = \"1s\"\n[hosts.\"e.org.\"]\npace = \"2s\"", "declared twice"),
    ])
    func aMistakeSaysWhatToWrite(hosts: String, expected: String) async throws {
        try await EngineFixture.expectMistake(hosts + "\n" + EngineFixture.request("/a"), expected)
    }

    @Test func statusSaysWhyASourceThatIsDueWaits() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = ["a", "b"].map { EngineFixture.request("/a", of: $0) }.joined()
            let configuration = try fixture.configuration(Self.hosts("pace = \"60s\"") + sources)
            let now = fixture.clock.now()
            let states = ["b": SourceState(source: "b", nextDue: now + 60)]
            let notes = HostPaceNotes(configuration, states: states, now: now)
            let texts = configuration.sources.map(notes.note)
            #expect(
                texts == [
                    "due: waits for its turn at 127.0.0.1, which gets one request in 60.0 seconds ([hosts] pace); 1 source is due there",
                    nil,
                ])
        }
    }

    @Test func noRequestIsSentThatMayBeAnothersByThen() async throws {
        let origin: Origin = "http://a:80"
        let permit = try await HostGate(limit: 1).permit(at: origin)
        defer { permit.release() }
        try await permit.waitToSend(to: origin, nil)
        permit.beforeEachRequest { throw StoreError(.database, "another daemon may run it") }
        await #expect(throws: StoreError.self) { try await permit.waitToSend(to: origin, nil) }
    }
}
