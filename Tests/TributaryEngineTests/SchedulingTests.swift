import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import TributaryEngine

@Suite struct SchedulingTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func configuration(
        _ sources: [String: String], concurrency: Int = 2, environment: [String: String] = [:]
    ) async throws -> TributaryConfiguration {
        let text =
            "[daemon]\nconcurrency = \(concurrency)\n"
            + sources.map { name, options in
                "[sources.\(name)]\n\(options)\n[[sources.\(name).requests]]\nurl = \"http://e.org/\"\nparser = \"ItemsParser\"\n"
            }.joined()
        return try await withTemporaryFolder { folder in
            try TributaryConfiguration(
                file: folder.write(text, to: "s.toml"), parsers: EngineFixture.registry, environment: environment)
        }
    }

    @Test func dueTimesComeInOrder() {
        var queue = DueQueue()
        for (index, offset) in [5.0, 1, 3, 2, 4].enumerated() { queue.schedule("s\(index)", at: now + offset) }
        queue.schedule("s1", at: now + 6)
        queue.remove("s3")
        #expect(queue.nextDue() == now + 3)
        var order: [String] = []
        while let source = queue.popDue(by: now + 10) { order.append(source) }
        #expect(order == ["s2", "s4", "s0", "s1"])
        #expect(queue.isEmpty && queue.nextDue() == nil)
    }

    @Test func rescheduledSourcesLeaveFewEntries() {
        var queue = DueQueue()
        for minute in 0..<10_000 {
            queue.schedule("a", at: now + 30 * 86_400 + Double(minute) * 60)
            // The same due time again is no second entry, either.
            queue.schedule("b", at: now + 1)
        }
        #expect(queue.entryCount <= 70)
        #expect(queue.popDue(by: now + 1) == "b" && queue.popDue(by: now + 30 * 86_400) == nil)
        for number in 0..<1_000 { queue.schedule("s\(number)", at: now) }
        for number in 0..<1_000 { queue.remove("s\(number)") }
        #expect(queue.entryCount <= 70 && queue.nextDue() == now + 30 * 86_400 + 9_999 * 60)
    }

    @Test func eventsAreTakenTogetherAndOnce() async {
        let events = SchedulerEvents()
        events.add(.refresh(["b"]))
        events.add(.due)
        #expect(await events.next()?.count == 2)
        async let later = events.next()
        events.add(.refresh(nil))
        #expect(await later?.count == 1)
        events.add(.due)
        #expect(events.end().count == 1 && !events.add(.due))
    }

    @Test func aCancelledWaitForEventsEnds() async {
        let events = SchedulerEvents()
        let wait = Task { await events.next() }
        wait.cancel()
        #expect(await wait.value?.count == nil)
    }

    @Test func backOffHasACapAndAnEnd() {
        let delays = (1...50).map { DueTime.backOff(failures: $0, cache: .seconds(900), jitter: 0.5) }
        #expect(delays.prefix(4) == [60, 120, 240, 480])
        #expect(delays.allSatisfy { $0 <= 3600 } && delays[49] == 3600)
        #expect(DueTime.backOff(failures: 99, cache: .seconds(86_400), jitter: 0.5) == 86_400)
        #expect(DueTime.backOff(failures: 1, cache: .milliseconds(1), jitter: 0) == 0.8)
    }

    @Test func aClockThatWasSetBackMakesNobodyWaitLongerThanBefore() async throws {
        let source = try #require(try await configuration(["a": "cache = \"10m\""])[source: "a"])
        func start(_ due: Date?, lastRun: Date?) -> Date {
            DueTime.start(source, state: SourceState(source: "a", lastRun: lastRun, nextDue: due), now: now)
        }
        #expect(start(nil, lastRun: nil) == now)
        #expect(start(now + 300, lastRun: now - 300) == now + 300)
        #expect(start(now + 400 * 86_400 + 600, lastRun: now + 400 * 86_400) == now + 600)
    }

    @Test func aScheduledSourceWhoseLastRunIsToComeIsRunWhenItIsDue() async throws {
        let source = try #require(try await configuration(["a": "schedule = \"*/10 * * * *\""])[source: "a"])
        // Another daemon's clock was an hour ahead, and the wait was cut.
        let state = SourceState(source: "a", outcome: .unchanged, lastRun: now + 3600, nextDue: now + 90)
        #expect(DueTime.start(source, state: state, now: now) <= now + 90)
        #expect(DueTime.start(source, state: state, now: now + 90) == now + 90)
        #expect(DueTime.start(source, state: state, now: now + 600) == now + 90)
    }

    @Test func noMoreThanThereArePlacesForAndNeverASourceTwice() async throws {
        let configuration = try await configuration(["a": "", "b": "", "c": ""])
        var plan = Schedule(configuration, states: [:], now: now)
        let places = Admissions(places: 2, perHost: 9)
        var running = plan.takeStarts(now: now, places)
        #expect(running.count == 2)
        #expect(plan.takeStarts(now: now, places).isEmpty)
        plan.refresh(nil, now: now)
        #expect(plan.takeStarts(now: now, places).isEmpty)
        let first = running.removeFirst()
        first.permit.release()
        plan.finished(first.source.name, nextDue: now + 900, now: now)
        let next = plan.takeStarts(now: now, places)
        #expect(next.map(\.mode) == [.force])
    }

    /// A replay by a program with another `sources.toml`: this daemon would ask for the documents of its own, old one.
    @Test func whatAnotherProcessDeclaresMakesNothingDue() async throws {
        let configuration = try await configuration(["a": ""])
        var plan = Schedule(configuration, states: [:], now: now)
        let places = Admissions(places: 2, perHost: 9)
        #expect(plan.takeStarts(now: now, places).count == 1)
        plan.finished("a", nextDue: now + 600, now: now, jitter: 0)
        var state = SourceState(source: "a", outcome: .committed, lastRun: now, nextDue: now + 600)
        state.declared = "another"
        plan.updateDueTimes(from: ["a": state], now: now + 1)
        #expect(plan.takeStarts(now: now + 2, places).isEmpty)
        #expect(plan.takeStarts(now: now + 601, places).count == 1)
    }

    @Test func aSourceThatIsGoneLeavesItsPlaceToOthers() async throws {
        var plan = Schedule(try await configuration(["a": "", "b": "", "c": ""]), states: [:], now: now)
        let places = Admissions(places: 1, perHost: 9)
        let first = try #require(plan.takeStarts(now: now, places).first)
        plan.reload(try await configuration([first.source.name: ""]), now: now)
        first.permit.release()
        plan.finished(first.source.name, nextDue: now + 900, now: now)
        #expect(plan.takeStarts(now: now, places).isEmpty)
        guard case .admitted(let permit) = places.admit("x") else {
            Issue.record("the place was not given back")
            return
        }
        permit.release()
    }

    @Test func sourcesOfAFullHostHoldUpNobodyElse() async throws {
        var sources = Dictionary(uniqueKeysWithValues: (0..<40).map { ("hanging\($0)", "") })
        sources["healthy"] = ""
        let text = try await configuration(sources)
        var plan = Schedule(
            once: .force,
            text.sources.map { source in
                var source = source
                if source.name == "healthy" { source.requests[0].url = InterpolatedText("http://other.example/") }
                return source
            }, states: [:], now: now)
        let places = Admissions(places: 8, perHost: 2)
        var running = plan.takeStarts(now: now, places)
        #expect(running.count == 3 && running.contains { $0.source.name == "healthy" })
        #expect(plan.takeStarts(now: now, places).isEmpty)
        // One ends: its host has a place again, for one more of its sources.
        let ended = try #require(running.firstIndex { $0.source.name != "healthy" })
        let run = running.remove(at: ended)
        run.permit.release()
        plan.finished(run.source.name, nextDue: nil, now: now)
        #expect(places.freed == ["http://e.org:80"])
        plan.free("http://e.org:80")
        #expect(plan.takeStarts(now: now, places).count == 1)
        #expect(!plan.isDone)
    }

    @Test func sourcesThatMayHaveKilledTheProcessRunOneAtATime() async throws {
        var state = SourceState(source: "a")
        state.attempts = 1
        let states = [
            "a": state,
            "b": {
                var other = state; other.source = "b"; return other
            }(),
        ]
        var plan = Schedule(try await configuration(["a": "", "b": "", "c": ""]), states: states, now: now)
        let places = Admissions(places: 8, perHost: 8)
        let first = plan.takeStarts(now: now, places).map(\.source.name)
        #expect(first.count == 2 && first.contains("c"))
        plan.finished("c", nextDue: nil, now: now)
        #expect(plan.takeStarts(now: now, places).isEmpty)
        plan.finished(first.first { $0 != "c" } ?? "", nextDue: nil, now: now)
        #expect(plan.takeStarts(now: now, places).count == 1)
    }

    @Test func whenTheClockIsSetBackSourcesWaitAsLongAsBefore() async throws {
        let states = ["a": SourceState(source: "a", nextDue: now + 600)]
        var plan = Schedule(try await configuration(["a": ""]), states: states, now: now)
        let clock = ManualClock(now)
        var watch = ClockWatch(clock)
        clock.advance(by: 100)
        #expect(watch.look().former == nil)
        clock.advance(by: 50)
        clock.advance(by: -86_550)
        let (now, former) = watch.look()
        #expect(former == now + 86_550)
        plan.clockWasSet(from: try #require(former), to: now)
        #expect(plan.nextWake == now + 450)
    }

    /// Rows that refer to others are looked up once these are there.
    @Test(arguments: [true, false]) func aFirstRunWaitsForTheRowsThatItNeeds(isOnce: Bool) async throws {
        func source(_ name: String, _ table: String, references: String? = nil) -> String {
            let column = references.map { "other = { path = \"@o\", references = \"\($0)(id)\" }" } ?? "other = \"@o\""
            return """
                [[sources.\(name).requests]]
                url = "http://e.org/"
                tables = [{ table = "\(table)", element = "i", key = ["id"], columns = { id = "@id", \(column) } }]

                """
        }
        // d and e need each other: that does not keep them from running.
        let text =
            source("a", "line", references: "Head") + source("b", "head", references: "firm") + source("c", "firm")
            + source("d", "d", references: "e") + source("e", "e", references: "d")
        func read(_ text: String) async throws -> TributaryConfiguration {
            try await withTemporaryFolder { folder in
                try TributaryConfiguration(
                    file: folder.write(text, to: "s.toml"), parsers: EngineFixture.registry, environment: [:])
            }
        }
        let configuration = try await read(text)
        func schedule(_ states: [String: SourceState]) -> Schedule {
            isOnce
                ? Schedule(once: .force, configuration.sources, states: states, now: now)
                : Schedule(configuration, states: states, now: now)
        }
        let places = Admissions(places: 9, perHost: 9)
        var plan = schedule([:])
        var running: [Schedule.Start] = []
        func start() -> [String] {
            let starts = plan.takeStarts(now: now, places)
            running += starts
            return starts.map(\.source.name).sorted()
        }
        func end(_ name: String) throws {
            let index = try #require(running.firstIndex { $0.source.name == name })
            running.remove(at: index).permit.release()
            plan.finished(name, nextDue: now + 900, now: now)
        }
        let first = start()
        #expect(first.contains("c") && first.count == 2 && !first.contains("a"), "\(first)")
        #expect(start().isEmpty && !plan.isDone)
        for name in first where name != "c" { try end(name) }
        #expect(start().count == 1)
        try end("c")
        #expect(start() == ["b"])
        plan.refresh(["a"], now: now)
        #expect(start().isEmpty)
        // Whether or not its run was good.
        try end("b")
        #expect(start() == ["a"])
        // A source that has a commit waits for nobody, and nobody for it.
        var state = SourceState(source: "b", outcome: .committed, lastRun: now, nextDue: now)
        state.lastCommit = now
        plan = schedule(["b": state])
        #expect(Set(plan.takeStarts(now: now, places).map(\.source.name)).isSuperset(of: ["a", "b", "c"]))
        // A source that waits is removed from the file; one of a daemon among others waits as well.
        var shared = Schedule(sharing: configuration)
        shared.assign(["a", "b", "c"], [:], now: now)
        #expect(shared.takeStarts(now: now, places).map(\.source.name) == ["c"])
        #expect(shared.load.waiting == 2)
        shared.reload(try await read(source("a", "line", references: "Head") + source("c", "firm")), now: now)
        #expect(shared.takeStarts(now: now, places).map(\.source.name) == ["a"])
        #expect(shared.load.waiting == 0)
        // Another process runs the source that is waited for.
        var failed = SourceState(source: "b", outcome: .discarded, lastRun: now, nextDue: now + 3600)
        failed.failures = 5
        for other in [state, failed] {
            plan = schedule([:])
            let places = Admissions(places: 9, perHost: 9)
            _ = plan.takeStarts(now: now, places)
            plan.finished("c", nextDue: now + 900, now: now)
            plan.updateDueTimes(from: ["b": other], now: now)
            #expect(plan.takeStarts(now: now, places).map(\.source.name).contains("a"), "\(other.outcome as Any)")
        }
    }

    /// A source that has failed because a table is missing does not wait for the end of its back-off.
    @Test func aFirstCommitLetsSourcesRunAgainThatNeedItsRows() async throws {
        let text = """
            [[sources.a.requests]]
            url = "http://e.org/${row:id}"
            for_each = "SELECT id FROM main.T"
            tables = [{ table = "a", element = "a", key = ["id"], columns = { id = "@id", of = { row = "id" } } }]
            [[sources.t.requests]]
            url = "http://e.org/"
            tables = [{ table = "t", element = "t", key = ["id"], columns = { id = "@id" } }]
            """
        let configuration = try await withTemporaryFolder { folder in
            try TributaryConfiguration(
                file: folder.write(text, to: "s.toml"), parsers: EngineFixture.registry, environment: [:])
        }
        let places = Admissions(places: 9, perHost: 9)
        var plan = Schedule(configuration, states: [:], now: now)
        func start() -> [String] {
            plan.takeStarts(now: now, places).map { start in
                start.permit.release()
                return start.source.name
            }
        }
        for name in ["t", "a"] {
            #expect(start() == [name])
            plan.finished(name, nextDue: now + 3600, now: now)
        }
        plan.refresh(["t"], now: now)
        #expect(start() == ["t"])
        plan.finished("t", nextDue: now + 3600, hasCommitted: true, now: now)
        #expect(start() == ["a"])
        plan.finished("a", nextDue: now + 3600, hasCommitted: true, now: now)
        // Once.
        plan.refresh(["t"], now: now)
        #expect(start() == ["t"])
        plan.finished("t", nextDue: now + 3600, hasCommitted: true, now: now)
        #expect(start().isEmpty)
    }

    @Test func sourcesThatNeedEachOtherDoNotAllWait() async throws {
        func source(_ name: String, _ tables: (table: String, references: String?)...) -> String {
            let texts = tables.map { table, references in
                let column = references.map { ", o = { path = \"@o\", references = \"\($0)(id)\" }" } ?? ""
                return """
                    { table = "\(table)", element = "\(table)", key = ["id"], columns = { id = "@id"\(column) } }
                    """
            }
            return """
                [[sources.\(name).requests]]
                url = "http://e.org/"
                tables = [\(texts.joined(separator: ", "))]

                """
        }
        let text = source("m", ("z", "t")) + source("n", ("t", "z")) + source("a", ("a", "t"))
        let configuration = try await withTemporaryFolder { folder in
            try TributaryConfiguration(
                file: folder.write(text, to: "s.toml"), parsers: EngineFixture.registry, environment: [:])
        }
        func named(_ names: String...) -> [SourceDeclaration] {
            configuration.sources.filter { names.contains($0.name) }
        }
        var runs = FirstRuns(EngineFixture.registry)
        #expect(runs.add(named("m", "n")).isEmpty)
        let waits = ["m", "n"].filter { runs.hold($0) }
        #expect(waits == ["m"])
        // With a, the cycle is cut elsewhere.
        let free = runs.add(named("a"))
        let held = ["m", "n", "a"].filter { runs.hold($0) }
        #expect(held.count < 3 && Set(free).isDisjoint(with: held), "\(free), \(held)")
        #expect(free == ["m"])
    }

    @Test func aRefreshDuringARunRunsOnceMore() async throws {
        var plan = Schedule(try await configuration(["a": ""]), states: [:], now: now)
        #expect(plan.takeStarts(now: now).map(\.mode) == [.whenDue])
        plan.refresh(["a"], now: now)
        plan.refresh(["a", "nobody"], now: now)
        plan.finished("a", nextDue: now + 900, now: now)
        #expect(plan.takeStarts(now: now).map(\.mode) == [.force])
        plan.finished("a", nextDue: now + 900, now: now, jitter: 1)
        #expect(plan.takeStarts(now: now).isEmpty)
        #expect(plan.nextWake == now + 930)
    }

    @Test func aReloadDisturbsOnlyWhatChanged() async throws {
        let states = Dictionary(
            uniqueKeysWithValues: ["a", "b", "c"].map { ($0, SourceState(source: $0, nextDue: now + 600)) })
        var plan = Schedule(
            try await configuration(["a": "", "b": "", "c": ""], concurrency: 9), states: states, now: now)
        #expect(plan.takeStarts(now: now).isEmpty)
        plan.reload(try await configuration(["a": "", "b": "cache = \"1h\"", "d": ""], concurrency: 9), now: now)
        #expect(Set(plan.takeStarts(now: now).map(\.source.name)) == ["b", "d"])
        #expect(plan.nextWake == now + 600)
    }

    /// The identity of a declaration has no secrets, so that a run by the due time would wait for the back-off.
    @Test func aReloadWithANewSecretRequestsItsSources() async throws {
        let sources = ["a": "auth = { bearer = \"${TOKEN}\" }", "b": "", "c": "auth = { bearer = \"${TOKEN}\" }"]
        let old = try await configuration(sources, concurrency: 9, environment: ["TOKEN": "old-token"])
        let due = ["a": now + 600, "b": now + 600, "c": now]
        let states = Dictionary(
            uniqueKeysWithValues: due.map { ($0.key, SourceState(source: $0.key, nextDue: $0.value)) })
        var plan = Schedule(old, states: states, now: now)
        #expect(plan.takeStarts(now: now).map(\.source.name) == ["c"])
        plan.reload(old, now: now)
        #expect(plan.takeStarts(now: now).isEmpty)
        let new = try await configuration(sources, concurrency: 9, environment: ["TOKEN": "new-token"])
        #expect(new[source: "a"]?.identity == old[source: "a"]?.identity)
        plan.reload(new, now: now)
        let starts = plan.takeStarts(now: now)
        #expect(starts.map(\.source.name) == ["a"] && starts.map(\.mode) == [.force])
        // A run in progress has the old secret, and is followed by another.
        plan.finished("c", nextDue: now + 600, now: now)
        #expect(plan.takeStarts(now: now).map(\.mode) == [.force])
    }

    @Test func aDaemonAmongOthersRunsOnlyItsOwn() async throws {
        var plan = Schedule(sharing: try await configuration(["a": "", "b": "", "c": ""], concurrency: 9))
        #expect(plan.takeStarts(now: now).isEmpty && plan.nextWake == nil)
        plan.refresh(nil, now: now)
        #expect(plan.takeStarts(now: now).isEmpty)
        // Another daemon has run "b" since all were asked for, and "a" never ran.
        let ran = SourceState(source: "b", lastRun: now, nextDue: now + 600)
        plan.assign(["a", "b"], ["b": ran], now: now)
        let first = plan.takeStarts(now: now)
        #expect(first.map(\.source.name) == ["a"] && first.map(\.mode) == [.force])
        #expect(plan.nextWake == now + 600)
        plan.refresh(["a", "b", "c"], now: now)
        #expect(plan.takeStarts(now: now).map(\.source.name) == ["b"])
        // Given up during a run: it ends, and is not run again, although it was asked for.
        plan.release(["a"], now: now)
        plan.finished("a", nextDue: now + 9, now: now)
        plan.finished("b", nextDue: now + 600, now: now, jitter: 0)
        #expect(plan.nextWake == now + 600)
        // By hand, somebody else has run it, and a stranger's is no concern.
        let ranElsewhere = ["b": SourceState(source: "b", nextDue: now + 700), "c": SourceState(source: "c")]
        plan.updateDueTimes(from: ranElsewhere, now: now)
        #expect(plan.nextWake == now + 700)
        plan.assign(["a"], ["a": SourceState(source: "a", lastRun: now, nextDue: now + 50)], now: now)
        #expect(plan.nextWake == now + 50)
        // What was asked for while nobody had it is run by who takes it soon, and by nobody later.
        let states = ["c": SourceState(source: "c", lastRun: now, nextDue: now + 900)]
        plan.refresh(["c"], now: now + 1)
        plan.assign(["c"], states, now: now + 9)
        #expect(plan.takeStarts(now: now + 9).map(\.source.name) == ["c"])
        plan.finished("c", nextDue: now + 900, now: now + 9, jitter: 0)
        plan.release(["c"], now: now + 9)
        plan.refresh(["c"], now: now + 10)
        plan.assign(["c"], states, now: now + 71)
        #expect(plan.takeStarts(now: now + 71).map(\.source.name) == ["a"])
    }

    /// The running service on a clock that the test moves.
    @Test func theServiceRunsSourcesWhenTheyAreDue() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
            let service = try fixture.service(
                "[sources.s]\ncache = \"10m\"\n" + EngineFixture.request("/a"), clock: fixture.clock)
            let running = Task { try await service.run() }
            var outcomes = service.outcomes.makeAsyncIterator()
            #expect(await outcomes.next()?.outcome == .committed)
            await service.heartbeat()
            fixture.clock.advance(by: 60 * 11)
            #expect(await outcomes.next()?.outcome == .unchanged)
            service.refresh(["s"])
            #expect(await outcomes.next()?.outcome == .unchanged)
            await service.heartbeat()
            running.cancel()
            try? await running.value
            #expect(fixture.server.requests("/a").count == 3)
        }
    }

    @Test func aFailingSourceDisturbsNoOther() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/hang") { _ in [.hang] }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let sources =
                EngineFixture.request("/hang").replacingOccurrences(of: "sources.s", with: "sources.hanging")
                + EngineFixture.request("/a")
            let service = try fixture.service(sources, clock: fixture.clock)
            let running = Task { try await service.run() }
            var outcomes = service.outcomes.makeAsyncIterator()
            #expect(await outcomes.next()?.source == "s")
            running.cancel()
            let last = await outcomes.next()
            #expect(last?.source == "hanging" && last?.outcome == .cancelled)
            try? await running.value
            #expect(try fixture.rows("SELECT outcome FROM tributary_run WHERE source = 'hanging'") == ["cancelled"])
        }
    }

    /// Sixty minutes of due times, with every way in which a response can end: what a run opens, it closes.
    @Test(.timeLimit(.minutes(10))) func anHourOfDueTimesLeaksNoDescriptor() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let asked = Counter()
            fixture.server.document("/unchanged", EngineFixture.items(["1"]), etag: "\"1\"")
            fixture.server.route("/changed") { _ in
                asked.enter()
                return StubServer.response(200, EngineFixture.items(["2"], name: "n\(asked.total)"))
            }
            fixture.server.route("/refused") { _ in StubServer.response(500, "") }
            fixture.server.route("/reset") { _ in [StubServer.head(200, [:]), .send(Array("<items>".utf8)), .reset] }
            fixture.server.route("/broken") { _ in StubServer.response(200, "<items><item id='3'>") }
            var sources = ""
            for (number, path) in ["unchanged", "changed", "refused", "reset", "broken"].enumerated() {
                for copy in 0..<3 {
                    let name = "s\(number)\(copy)"
                    sources +=
                        "[sources.\(name)]\ncache = \"1m\"\n"
                        + EngineFixture.request("/" + path, of: name)
                }
            }
            let service = try fixture.service(sources, clock: fixture.clock)
            let running = Task { try await service.run() }
            var outcomes = service.outcomes.makeAsyncIterator()
            let healthy = Set((0..<3).flatMap { ["s0\($0)", "s1\($0)"] })
            var open: [Int] = []
            for _ in 0..<60 {
                var waiting = healthy
                while !waiting.isEmpty, let outcome = await outcomes.next() { waiting.remove(outcome.source) }
                await service.heartbeat()
                open.append(fixture.descriptors)
                // Sources drift apart by a twentieth of their interval.
                fixture.clock.advance(by: 64)
            }
            running.cancel()
            try? await running.value
            #expect(fixture.server.requests("/unchanged").count >= 180)
            // What the first minutes open stays open, the store and connections that are used again; a few more are caught
            // in the middle of a response now and then.
            #expect(open[30...].max()! <= open[5..<30].max()! + 5, "\(open)")
            try service.store.close()
            #expect(fixture.descriptors == 0)
        }
    }

    /// Another process holds the store's lock for as long as it likes: the service stops all the same.
    @Test(.timeLimit(.minutes(10))) func aLockedStoreDoesNotKeepTheServiceFromStopping() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let service = try fixture.service(EngineFixture.request("/a"), clock: SystemClock())
            let again = try fixture.service(EngineFixture.request("/a"), clock: SystemClock())
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: fixture.storePath, configuration: configuration)
            try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let running = Task { try await service.run() }
            await service.heartbeat()
            running.cancel()
            try await running.value
            let syncing = Task { try await again.sync() }
            syncing.cancel()
            #expect(try await syncing.value.first?.outcome == .cancelled)
            try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
            try service.store.close()
            try again.store.close()
        }
    }

    /// Two processes, or two services on one store: the second waits, and finds that the source is not due.
    @Test func runsOfOneSourceNeverOverlap() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let outcomes = try await withThrowingTaskGroup(of: RunOutcome?.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await fixture.sync(EngineFixture.request("/a"), mode: .whenDue).first?.outcome }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.filter { $0 == .committed }.count == 1 && outcomes.filter { $0 == .notDue }.count == 3)
            #expect(fixture.server.requests("/a").count == 1)
        }
    }
}
