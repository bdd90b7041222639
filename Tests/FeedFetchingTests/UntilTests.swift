import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import FeedConfiguration
@testable import TributaryEngine

/// `until`: a request that is repeated until a job of the server has a state.
@Suite(.timeLimit(.minutes(10))) struct UntilTests {
    /// A job at `/jobs/7`, which is submitted at `/jobs`, and whose report is at `/report`.
    private final class Job: Sendable {
        private let answers: [[StubServer.Step]]
        private let dates = Mutex<[Date]>([])
        private let clock: ManualClock
        let start: Date

        /// - Parameter answers: the answers to the requests for the state; the last one is repeated.
        init(_ fixture: EngineFixture, _ answers: [[StubServer.Step]]) {
            self.answers = answers
            clock = fixture.clock
            start = fixture.clock.now()
            fixture.server.route("/jobs") { _ in UntilTests.json("{\"id\": 7}") }
            fixture.server.route("/jobs/7") { [self] _ in
                let number = dates.withLock { dates in
                    dates.append(clock.now())
                    return dates.count
                }
                return self.answers[min(number, self.answers.count) - 1]
            }
            fixture.server.document("/report", EngineFixture.items(["1"]))
        }

        /// The seconds at which the state was requested.
        var seconds: [Double] { dates.withLock { $0.map { $0.timeIntervalSince(start) } } }

        /// Waits until the state has been requested some times and someone sleeps until an instant, and moves the clock there.
        func pass(to seconds: Double, after count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws
        {
            let turn = start + seconds
            try await wait(sourceLocation) { self.seconds.count == count && self.clock.wakes.contains(turn) }
            clock.advance(by: turn.timeIntervalSince(clock.now()))
        }

        func wait(_ sourceLocation: SourceLocation = #_sourceLocation, until isTrue: () -> Bool) async throws {
            let patience = ContinuousClock.now + .seconds(180)
            while !isTrue(), ContinuousClock.now < patience { try await Task.sleep(for: .milliseconds(2)) }
            #expect(isTrue(), "requested at \(seconds); sleepers: \(clock.wakes)", sourceLocation: sourceLocation)
        }
    }

    private static func json(
        _ text: String, status: Int = 200, _ headers: [String: String] = [:]
    ) -> [StubServer.Step] {
        StubServer.response(status, text, headers.merging(["Content-Type": "application/json"]) { first, _ in first })
    }

    private static let running = json("{\"state\": \"running\"}")
    private static let done = json("{\"state\": \"done\", \"report\": \"/report\"}")

    /// A stack that submits a job, waits for it, and reads its report.
    private static func stack(_ until: String, _ options: String = "") -> String {
        """
        [[sources.s.requests]]
        key = "submit"
        url = "URL/jobs"
        body = { json = { report = "items" } }
        capture = { job = "/json/id" }
        [[sources.s.requests]]
        key = "state"
        url = "URL/jobs/${capture:job}"
        until = { path = "/json/state", is = ["done"], fails = ["failed"], \(until) }
        capture = { report = "/json/report" }
        \(options)
        [[sources.s.requests]]
        key = "report"
        url = "${capture:report}"
        parser = "ItemsParser"

        """
    }

    private func sync(
        _ fixture: EngineFixture, _ sources: String, _ drive: () async throws -> Void
    ) async throws -> RunReport {
        let service = try fixture.service(sources, clock: fixture.clock)
        let syncing = Task { try await service.sync(["s"], mode: .force) }
        try await drive()
        let report = try #require(try await syncing.value.first)
        try service.store.close()
        return report
    }

    // MARK: - The value

    @Test(.onEachStore) func theNextRequestFollowsTheAwaitedValue() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.running, Self.json("{}"), Self.running, Self.done])
            let report = try await sync(fixture, Self.stack("every = \"7s\"")) {
                for number in 1...3 {
                    try await job.pass(to: Double(number) * 7, after: number)
                    if number < 3 { #expect(fixture.server.requests("/report").isEmpty) }
                }
            }
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(job.seconds == [0, 7, 14, 21])
            #expect(try fixture.rows("SELECT id FROM item") == ["1"])
            #expect(fixture.server.requests("/jobs").map(\.method) == ["POST"])
            #expect(fixture.server.requests("/report").count == 1)
            #expect(report.requests.map(\.outcome) == [.captured, .captured, .parsed])
            // The waits are not the time of the request.
            #expect(report.requests.map(\.seconds) == [0, 0, 0])
            #expect(try fixture.rows("SELECT attempts FROM tributary_source") == ["0"])
        }
    }

    @Test(.onEachStore) func theStateOfTheSourceSaysThatARunWaits() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.running, Self.running, Self.done])
            let notes = "SELECT note FROM tributary_source"
            let stack = Self.stack("every = \"7s\"")
            let end = DueTime.text(job.start + 1_800)
            let note =
                "waits: request 'state' is sent again every 7 s since \(DueTime.text(job.start)), until \(end)"
            let report = try await sync(fixture, stack) {
                try await job.pass(to: 7, after: 1)
                try await job.wait { job.seconds.count == 2 && fixture.clock.wakes.contains(job.start + 14) }
                #expect(try fixture.rows(notes) == [note])
                try await job.pass(to: 14, after: 2)
            }
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(try fixture.rows(notes) != [note])
            // Of a process that has died, nothing waits.
            let configuration = try fixture.configuration(stack)
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            defer { try? store.close() }
            try store.write { try $0.sources.recordNote(of: "s", note) }
            let status = try StoreStatus(configuration, in: store, isDaemonRunning: false, now: fixture.clock.now())
            #expect(!status.sources[0].isRunning && status.sources[0].state.note == nil, "\(status.sources[0])")
        }
    }

    /// A request with rows of its own: those of the last response.
    @Test func onlyTheLastResponseGivesRows() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func items(_ state: String, _ id: String) -> [StubServer.Step] {
                StubServer.response(200, "<items state='\(state)'><item id='\(id)'><name>n</name></item></items>")
            }
            let job = Job(fixture, [items("open", "1"), items("closed", "2")])
            let until = "until = { path = \"/items/@state\", is = [\"closed\", \"shut\"], every = \"7s\" }"
            let report = try await sync(fixture, EngineFixture.request("/jobs/7", until)) {
                try await job.pass(to: 7, after: 1)
            }
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(try fixture.rows("SELECT id FROM item") == ["2"])
            #expect(report.requests.first?.status == 200)
        }
    }

    @Test func aValueOfFailsDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.running, Self.json("{\"state\": \"failed\"}")])
            let report = try await sync(fixture, Self.stack("every = \"7s\"")) { try await job.pass(to: 7, after: 1) }
            #expect(report.outcome == .discarded)
            let error = report.error ?? ""
            #expect(error.contains("request 'state'") && error.contains("'/json/state' is 'failed'"), "\(error)")
            #expect(job.seconds == [0, 7] && fixture.server.requests("/report").isEmpty)
        }
    }

    // MARK: - The request after the job

    private static func answerReport(_ fixture: EngineFixture, busy status: Int, _ seconds: Int) {
        let server = fixture.server
        server.route("/report") { [unowned server] _ in
            server.requests("/report").count == 1
                ? StubServer.response(status, "", ["Retry-After": "\(seconds)"])
                : StubServer.response(200, EngineFixture.items(["1"]))
        }
    }

    /// A run that was discarded would submit the job once more.
    @Test(.onEachStore, arguments: [429, 503])
    func aBusyServerIsAskedForTheReportAgain(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.done])
            Self.answerReport(fixture, busy: status, 60)
            let report = try await sync(fixture, Self.stack("every = \"7s\"")) { try await job.pass(to: 60, after: 1) }
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(report.requests.map(\.outcome) == [.captured, .captured, .parsed])
            #expect(fixture.server.requests("/jobs").count == 1 && fixture.server.requests("/report").count == 2)
            #expect(try fixture.rows("SELECT id FROM item") == ["1"])
        }
    }

    @Test func aLongWaitForTheReportDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            _ = Job(fixture, [Self.done])
            Self.answerReport(fixture, busy: 429, 301)
            let report = try await sync(fixture, Self.stack("every = \"7s\"")) {}
            #expect(report.outcome == .discarded && report.error?.contains("429") == true, "\(report)")
            #expect(fixture.server.requests("/report").count == 1)
        }
    }

    // MARK: - The end

    @Test(arguments: [
        ("{\"state\": \"running\"}", "'/json/state' was not 'done' within 20 s; it was last 'running'"),
        ("{\"stage\": \"running\"}", "'/json/state' was not 'done' within 20 s; no response had a value there"),
    ])
    func anEndlessJobEndsAtTheLimit(answer: String, expected: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.json(answer)])
            let report = try await sync(fixture, Self.stack("every = \"7s\", within = \"20s\"")) {
                try await job.pass(to: 7, after: 1)
                try await job.pass(to: 14, after: 2)
                try await job.wait { job.seconds.count == 3 && fixture.clock.wakes.contains(job.start + 21) }
                try await job.pass(to: 20, after: 3)
            }
            #expect(report.outcome == .discarded && report.error?.contains(expected) == true, "\(report)")
            #expect(job.seconds == [0, 7, 14])
        }
    }

    /// A response that does not come is limited by `timeout`, and by `within`.
    @Test(arguments: [
        ("5s", 6.0, "no response within 5 s"), ("1h", 20, "was not 'done' within 20 s; it was last 'running'"),
    ])
    func aResponseThatDoesNotComeEndsTheRun(timeout: String, seconds: Double, expected: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.running, [.hang]])
            let stack = Self.stack("every = \"1s\", within = \"20s\"", "timeout = \"\(timeout)\"")
            let report = try await sync(fixture, stack) {
                try await job.pass(to: 1, after: 1)
                try await job.pass(to: seconds, after: 2)
            }
            #expect(report.outcome == .discarded && report.error?.contains(expected) == true, "\(report)")
            #expect(job.seconds == [0, 1])
        }
    }

    @Test func aStoppedRunEndsAtOnceAndSendsNothingMore() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.running])
            let service = try fixture.service(Self.stack("every = \"59m\", within = \"1d\""), clock: fixture.clock)
            let running = Task { try await service.run() }
            try await job.wait { job.seconds.count == 1 && fixture.clock.wakes.contains(job.start + 3540) }
            running.cancel()
            try? await running.value
            #expect(job.seconds == [0] && fixture.server.requests("/report").isEmpty)
            #expect(try fixture.rows("SELECT id FROM item").isEmpty)
            try service.store.close()
        }
    }

    // MARK: - Other sources and servers

    /// Neither a slot nor the host's permit is held between two requests.
    @Test func aWaitHoldsNeitherSlotNorPermit() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.running])
            fixture.server.document("/other", EngineFixture.items(["2"]))
            let sources =
                "[daemon]\nconcurrency = 1\nper_host = 1\n" + Self.stack("every = \"59m\", within = \"1d\"")
                + EngineFixture.request("/other", of: "t")
            let service = try fixture.service(sources, clock: fixture.clock)
            let running = Task { try await service.run() }
            try await job.wait { job.seconds.count == 1 && fixture.clock.wakes.contains(job.start + 3540) }
            let before = fixture.server.requests("/other").count
            service.refresh(["t"])
            try await job.wait { fixture.server.requests("/other").count > before }
            running.cancel()
            try? await running.value
            #expect(job.seconds == [0])
            try service.store.close()
        }
    }

    @Test func theStateIsRequestedAtThePaceOfItsHost() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.running, Self.done])
            let sources =
                "[hosts.\"127.0.0.1\"]\npace = \"50s\"\n" + Self.stack("every = \"7s\"", "timeout = \"20s\"")
            let report = try await sync(fixture, sources) {
                try await job.pass(to: 50, after: 0)
                try await job.pass(to: 57, after: 1)
                try await job.pass(to: 100, after: 1)
                try await job.pass(to: 150, after: 2)
            }
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(job.seconds == [50, 100])
        }
    }

    /// A longer pause than a run waits for otherwise, with a busy server and with a patient one.
    @Test(arguments: [429, 503, 202, 200])
    func aRequestedPauseIsObeyed(status: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = status == 202 ? "" : "{\"state\": \"running\"}"
            let job = Job(fixture, [Self.json(body, status: status, ["Retry-After": "400"]), Self.done])
            let report = try await sync(fixture, Self.stack("every = \"7s\"", "accept_status = [200, 202]")) {
                try await job.pass(to: 400, after: 1)
            }
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(job.seconds == [0, 400])
        }
    }

    @Test(arguments: [
        (429, "", "429"), (202, "", "accept_status is [200]"), (304, "", "to a request that was not conditional"),
        (404, "", "404"), (200, "<html>", "request 'state'"),
    ])
    func anotherAnswerDiscardsTheRun(status: Int, body: String, expected: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let job = Job(fixture, [Self.json(body, status: status)])
            let report = try await sync(fixture, Self.stack("every = \"7s\"")) {}
            #expect(report.outcome == .discarded && report.error?.contains(expected) == true, "\(report)")
            #expect(job.seconds == [0])
        }
    }

    /// `retries` count for each exchange.
    @Test func aBrokenExchangeIsRepeated() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let cut = [StubServer.head(200, ["Content-Length": "99"]), .send(Array("{".utf8)), .close]
            let job = Job(fixture, [cut, Self.running, cut, Self.done])
            let stack = Self.stack("every = \"1s\"", "retries = 1")
            let report = try #require(try await fixture.sync(stack).first)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(job.seconds.count == 4)
        }
    }

    // MARK: - Mistakes

    @Test(arguments: [
        ("{ is = [\"a\"] }", "until: 'path' is missing"), ("{ path = \"/a\" }", "until: 'is' is missing"),
        ("{ path = \"/a\", is = [] }", "until.is: names no value"),
        ("{ path = \"/a\", is = [\"\"] }", "until.is: a value must not be empty"),
        ("{ path = \"a\", is = [\"b\"] }", "until.path: 'a' must begin at the root, as in \"/json/state\""),
        ("{ path = \"/a\", is = [\"b\"], fails = [\"b\"] }", "until.fails: 'b' is also a value of 'is'"),
        ("{ path = \"/a\", is = [\"b\"], every = \"0s\" }", "until.every: expected a duration of at least 1s"),
        ("{ path = \"/a\", is = [\"b\"], every = \"31m\" }", "until.every: is longer than 'within', 30m"),
        ("{ path = \"/a\", is = [\"b\"], within = \"5s\" }", "until.within: is shorter than 'every', 10s"),
        ("{ path = \"/a\", is = [\"b\"], within = \"25h\" }", "until.within: expected a duration of at most 1d"),
        ("{ path = \"/a\", is = [\"b\"], whithin = \"1h\" }", "did you mean 'within'?"),
        ("{ path = \"/a\", is = [\"b\"] }\npage = { link = true }", "until: found 'page' and 'until'; give only one"),
        (
            "{ path = \"/a\", is = [\"b\"] }\nfor_each = \"SELECT 1\"",
            "until: found 'for_each' and 'until'; give only one"
        ),
        (
            "{ path = \"/a\", is = [\"b\"] }\ndocuments = \"*.xml\"",
            "a request of several documents cannot have 'until'"
        ),
    ])
    func mistakesSayWhatToWrite(until: String, expected: String) async throws {
        try await EngineFixture.expectMistake(EngineFixture.request("/a", "until = \(until)"), expected)
    }

    /// One mistake gives one message.
    @Test func aMistakeHasNoConsequences() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let until = "until = { path = \"/a\", is = [\"b\"], every = \"soon\", within = \"5s\" }"
            let text =
                "[store]\npath = \"store.sqlite\"\n[[sources.s.requests]]\nurl = \"http://127.0.0.1:1\"\n" + until
            let file = try folder.write(text, to: "sources.toml")
            #expect {
                try TributaryConfiguration(file: file, parsers: EngineFixture.registry, environment: [:])
            } throws: { error in
                (error as? ConfigurationError)?.problems.map(\.keyPath) == ["sources.s.requests[1].until.every"]
            }
        }
    }
}
