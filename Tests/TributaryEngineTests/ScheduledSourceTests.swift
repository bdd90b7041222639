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

/// Sources with a `schedule` instead of `cache`.
@Suite struct ScheduledSourceTests {
    private static func source(_ schedule: String, zone: String = "Europe/Berlin", _ options: String = "") -> String {
        "[sources.s]\nschedule = \"\(schedule)\"\ntime_zone = \"\(zone)\"\n\(options)\n" + EngineFixture.request("/a")
    }

    private func date(_ text: String) throws -> Date { try Date(text, strategy: Date.ISO8601FormatStyle()) }

    /// Sets a fixture's clock, which nobody looks at yet.
    private func set(_ clock: ManualClock, to text: String) throws {
        clock.advance(by: try date(text).timeIntervalSince(clock.now()))
    }

    private func serve(_ fixture: EngineFixture) {
        fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
    }

    @Test func aScheduleSaysWhenASourceIsDue() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture)
            func sync() async throws -> RunReport {
                let reports = try await fixture.sync(
                    Self.source("0 6 * * 1-5"), mode: .whenDue, clock: fixture.clock)
                return try #require(reports.first)
            }
            // A Friday afternoon; a new source is due at once.
            try set(fixture.clock, to: "2026-11-20T15:00:00Z")
            let first = try await sync()
            #expect(first.outcome == .committed)
            #expect(try first.nextDue == date("2026-11-23T05:00:00Z"))
            #expect(try fixture.rows("SELECT next_due FROM tributary_source") == ["2026-11-23T05:00:00.000Z"])
            try set(fixture.clock, to: "2026-11-23T04:59:59Z")
            #expect(try await sync().outcome == .notDue)
            try set(fixture.clock, to: "2026-11-23T05:00:00Z")
            #expect(try await sync().outcome == .unchanged)
            #expect(try await sync().outcome == .notDue)
            // Switched off for three weeks, it is run once.
            try set(fixture.clock, to: "2026-12-14T12:00:00Z")
            #expect(try await sync().outcome == .unchanged)
            #expect(try await sync().outcome == .notDue)
            #expect(try fixture.rows("SELECT next_due FROM tributary_source") == ["2026-12-15T05:00:00.000Z"])
        }
    }

    /// A source that kills its process is not asked again at once, as it is with `cache`.
    @Test func aRunThatDidNotEndIsRepeatedAMinuteLater() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture)
            try set(fixture.clock, to: "2026-11-20T15:00:00Z")
            let text = Self.source("0 6 * * 1-5")
            func sync() async throws -> [RunOutcome] {
                try await fixture.sync(text, mode: .whenDue, clock: fixture.clock).map(\.outcome)
            }
            #expect(try await sync() == [.committed])
            try set(fixture.clock, to: "2026-11-23T05:00:00Z")
            let service = try fixture.service(text, clock: fixture.clock)
            try await service.store.writeInGroup {
                try $0.sources.recordAttempt(
                    of: "s", number: 1, wait: 60, declared: try #require(service.configuration[source: "s"]).identity,
                    now: fixture.clock.now())
            }
            try service.store.close()
            #expect(try await sync() == [.notDue])
            fixture.clock.advance(by: 60)
            #expect(try await sync() == [.unchanged])
        }
    }

    /// A daemon runs through the night in which clocks are set: at 02:30 once, although there is none, or two.
    @Test(
        .onEachStore,
        arguments: [
            ("Europe/Berlin", "30 2 * * *", "2027-03-27T12:00:00Z", ["2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]),
            ("Europe/Berlin", "30 2 * * *", "2027-10-30T12:00:00Z", ["2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"]),
            (
                "Australia/Lord_Howe", "15 2 * * *", "2027-10-02T12:00:00Z",
                ["2027-10-02T15:30:00Z", "2027-10-03T15:15:00Z"]
            ),
            (
                "Australia/Lord_Howe", "45 1 * * *", "2027-04-03T12:00:00Z",
                ["2027-04-03T14:45:00Z", "2027-04-04T15:15:00Z"]
            ),
            ("Pacific/Apia", "0 6 * * *", "2011-12-29T20:00:00Z", ["2011-12-30T10:00:00Z", "2011-12-30T16:00:00Z"]),
        ])
    func aDaemonRunsOnceWhenClocksAreSet(zone: String, schedule: String, start: String, times: [String]) async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture)
            try set(fixture.clock, to: start)
            let service = try fixture.service(Self.source(schedule, zone: zone), clock: fixture.clock)
            let running = Task { try await service.run() }
            var outcomes = service.outcomes.makeAsyncIterator()
            #expect(await outcomes.next()?.startedAt == fixture.clock.now())
            for time in try times.map(date) {
                // An hour at a time, and each time a look of the scheduler, which must start nothing.
                while fixture.clock.now() < time {
                    let rest = time.timeIntervalSince(fixture.clock.now())
                    fixture.clock.advance(by: rest > 1 ? min(3600, rest - 1) : rest)
                    await service.heartbeat()
                }
                let run = await outcomes.next()
                #expect(run?.startedAt == time, "\(String(describing: run))")
            }
            running.cancel()
            try? await running.value
            try service.store.close()
        }
    }

    @Test func retryAfterPostponesAndFailuresBackOff() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let answers = Counter()
            fixture.server.route("/a") { _ in
                answers.enter()
                switch answers.total {
                case 1: return StubServer.response(503, "", ["Retry-After": "7200"])
                case 2: return StubServer.response(500, "")
                default:
                    return StubServer.response(200, EngineFixture.items(["1"]), ["Cache-Control": "max-age=864000"])
                }
            }
            try set(fixture.clock, to: "2026-11-20T05:00:00Z")
            func sync() async throws -> RunReport {
                let reports = try await fixture.sync(
                    Self.source("*/10 * * * *", zone: "UTC"), mode: .whenDue, clock: fixture.clock)
                return try #require(reports.first)
            }
            #expect(try await sync().nextDue == date("2026-11-20T07:00:00Z"))
            try set(fixture.clock, to: "2026-11-20T06:59:59Z")
            #expect(try await sync().outcome == .notDue)
            try set(fixture.clock, to: "2026-11-20T07:00:01Z")
            let second = try await sync()
            // Later than the schedule's next time: a server that fails is not asked by the clock.
            let wait = try #require(second.nextDue).timeIntervalSince(fixture.clock.now())
            #expect(second.outcome == .discarded && (96...144).contains(wait))
            fixture.clock.advance(by: wait + 1)
            // A schedule says when, and max-age does not postpone it.
            let third = try await sync()
            #expect(third.outcome == .committed)
            #expect(try third.nextDue == date("2026-11-20T07:10:00Z"))
        }
    }

    @Test func whenTheClockIsSetBackATimeOfTheDayStaysWhatItIs() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let configuration = try fixture.configuration(Self.source("0 6 * * *", zone: "UTC"))
            let source = try #require(configuration[source: "s"])
            let now = try date("2026-11-20T05:30:00Z")
            var state = SourceState(
                source: "s", outcome: .committed, lastRun: now - 3600, nextDue: try date("2026-11-20T06:00:00Z"))
            state.declared = source.identity
            var schedule = Schedule(configuration, states: ["s": state], now: now)
            schedule.clockWasSet(from: now, to: now - 600)
            #expect(try schedule.nextWake == date("2026-11-20T06:00:00Z"))
            schedule.clockWasSet(from: now - 600, to: now - 3 * 86_400)
            #expect(try schedule.nextWake == date("2026-11-17T06:00:00Z"))
            // One that waits for something else does so as long as before.
            state.failures = 1
            state.nextDue = now + 61
            schedule = Schedule(configuration, states: ["s": state], now: now)
            schedule.clockWasSet(from: now, to: now - 3600)
            #expect(schedule.nextWake == now - 3600 + 61)
        }
    }

    @Test(arguments: [
        (
            "cache = \"1h\"\nschedule = \"0 6 * * *\"",
            "sources.s.cache: found 'schedule' and 'cache'; give only one"
        ),
        ("schedule = \"0 0 30 2 *\"", "'0 0 30 2 *' is not a schedule: no year has such a day"),
        ("schedule = \"0 6 * * *\"\ntime_zone = \"Europe/Belrin\"", "did you mean 'Europe/Berlin'?"),
        ("schedule = \"0 6 * * *\"\ntime_zone = \"../../../etc/passwd\"", "is not a time zone"),
        ("schedule = 6", "expected a string, found an integer"),
    ])
    func aMistakeSaysWhatToDo(options: String, expected: String) async throws {
        try await EngineFixture.expectMistake(
            "[sources.s]\n\(options)\n" + EngineFixture.request("/a"), expected)
    }

    @Test func withoutTzdataTheErrorNamesIt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let missing = ["TZDIR": fixture.folder.path + "/none"]
            #expect {
                try fixture.configuration(Self.source("0 6 * * *"), environment: missing)
            } throws: { error in
                "\(error)".contains("install the package tzdata")
            }
            // UTC needs no files.
            let source = Self.source("0 6 * * *", zone: "UTC")
            #expect(try fixture.configuration(source, environment: missing)[source: "s"]?.schedule != nil)
            try fixture.folder.write("TZif2 but not really", to: "Broken")
            #expect {
                try fixture.configuration(
                    Self.source("0 6 * * *", zone: "Broken"), environment: ["TZDIR": fixture.folder.path])
            } throws: { error in
                "\(error)".contains("is not a time zone file (RFC 8536)")
            }
        }
    }

    @Test func defaultsAreHandedDownAndTheNearestCounts() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let configuration = try fixture.configuration(
                """
                [defaults]
                schedule = "0 6 * * *"
                time_zone = "Europe/Berlin"
                [sources.a]
                [[sources.a.requests]]
                url = "URL/a"
                parser = "ItemsParser"
                [sources.b]
                cache = "5m"
                [[sources.b.requests]]
                url = "URL/a"
                parser = "ItemsParser"
                [sources.c]
                schedule = "@hourly"
                [[sources.c.requests]]
                url = "URL/a"
                parser = "ItemsParser"
                [sources.d]
                time_zone = "Asia/Tokyo"
                [[sources.d.requests]]
                url = "URL/a"
                parser = "ItemsParser"
                """)
            let schedules = configuration.sources.map { $0.schedule.map { "\($0.text) \($0.timeZone)" } }
            #expect(schedules == ["0 6 * * * Europe/Berlin", nil, "@hourly Europe/Berlin", "0 6 * * * Asia/Tokyo"])
            #expect(configuration[source: "b"]?.hasOwnCache == true)
            let next = try configuration[source: "d"]?.schedule?.next(after: date("2026-11-22T00:00:00Z"))
            #expect(try next == date("2026-11-22T21:00:00Z"))
        }
    }
}
