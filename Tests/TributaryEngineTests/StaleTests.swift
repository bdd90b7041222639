import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// `fresh_within`: who hears of a source without a good run, and when.
@Suite(.timeLimit(.minutes(10))) struct StaleTests {
    private static let configuration =
        "[defaults]\nfresh_within = \"2h\"\n" + HookFixture.mapping(cache: "1h")
        + EngineFixture.hook("\"stale\", \"recovered\"")
        + EngineFixture.hook("\"recovered\"", name: "end", path: "/end")

    private static let runs = "SELECT count(*) FROM tributary_run"

    /// Moves the clock in steps until a condition holds.
    private func step(_ hooks: HookFixture, _ what: String, until condition: () throws -> Bool) async throws {
        try await hooks.wait(what) {
            if try condition() { return true }
            hooks.fixture.clock.advance(by: 0.2)
            return false
        }
    }

    /// The types of the events that a receiver has, where one may come twice, as the clock goes faster than time.
    private func types(_ hooks: HookFixture, _ path: String = "/hook") throws -> [String] {
        var ids: Set<String> = []
        return try hooks.events(path).filter { ids.insert($0.id).inserted }.map(\.type)
    }

    /// The hook's knowledge is in the store: a restart neither repeats the event nor forgets it.
    @Test func aSourceWithoutAGoodRunIsToldOnceAcrossARestart() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for path in ["/hook", "/end"] { fixture.accept(path) }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(Self.configuration, clock: fixture.clock)
            fixture.server.route("/a") { _ in StubServer.response(500, "") }
            try await HookFixture.run(fixture, Self.configuration, clock: fixture.clock) { (hooks) async throws in
                // The source is due after an hour, and fails.
                fixture.clock.advance(by: 3600)
                try await step(hooks, "a failure") {
                    try fixture.rows("SELECT failures > 0 FROM tributary_source") == ["1"]
                }
                #expect(try hooks.events().isEmpty)
                fixture.clock.advance(by: 3580)
                try await step(hooks, "what the hooks know") {
                    try fixture.rows("SELECT count(*) FROM tributary_hook_source WHERE stale") == ["2"]
                }
                let event = try #require(try hooks.events().first)
                #expect(event.type == "stale" && event.last_good == "2027-01-15T08:00:00Z" && event.run == nil)
                #expect(event.failing_since != nil && event.error?.contains("500") == true)
                #expect(fixture.clock.now().timeIntervalSince1970 >= 1_800_000_000 + 7200)
            }
            fixture.clock.advance(by: 86_400)
            let before = try fixture.rows(Self.runs)
            try await HookFixture.run(fixture, Self.configuration, clock: fixture.clock) { (hooks) async throws in
                try await step(hooks, "a further failure") { try fixture.rows(Self.runs) != before }
                fixture.server.document("/a", EngineFixture.items(["1"]))
                fixture.clock.advance(by: 7200)
                try await step(hooks, "what ended") {
                    try fixture.rows("SELECT count(*) FROM tributary_hook_source") == ["0"]
                }
                #expect(try types(hooks) == ["stale", "recovered"] && types(hooks, "/end") == ["recovered"])
            }
        }
    }

    @Test(.onEachStore) func ofSeveralDaemonsOneTells() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for path in ["/hook", "/end"] { fixture.accept(path) }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(Self.configuration, clock: fixture.clock)
            fixture.server.route("/a") { _ in StubServer.response(500, "") }
            fixture.clock.advance(by: 7190)
            try await HookFixture.run(fixture, Self.configuration, clock: fixture.clock) { (first) async throws in
                try await HookFixture.run(fixture, Self.configuration, clock: fixture.clock) { (second) async throws in
                    try await step(first, "what the hooks know") {
                        try fixture.rows("SELECT count(*) FROM tributary_hook_source WHERE stale") == ["2"]
                    }
                    fixture.server.document("/a", EngineFixture.items(["1", "2"]))
                    fixture.clock.advance(by: 3600)
                    try await step(first, "what ended") {
                        try fixture.rows("SELECT count(*) FROM tributary_hook_source") == ["0"]
                    }
                    #expect(try types(second) == ["stale", "recovered"])
                }
            }
        }
    }

    @Test func statusSaysSinceWhen() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func status() throws -> SourceStatus {
                let configuration = try fixture.configuration(Self.configuration)
                let store = try #require(try configuration.openExistingStore())
                defer { try? store.close() }
                return try StoreStatus(
                    configuration, in: store, isDaemonRunning: false, now: fixture.clock.now()
                ).sources[0]
            }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(Self.configuration, clock: fixture.clock)
            fixture.clock.advance(by: 7199)
            #expect(try !status().isStale && status().state.note == nil)
            fixture.clock.advance(by: 1)
            #expect(try status().isStale)
            #expect(
                try status().state.note
                    == "stale: its last good run ended 2027-01-15 08:00 UTC, and fresh_within has passed")
            fixture.server.route("/a") { _ in StubServer.response(500, "") }
            try await fixture.sync(Self.configuration, clock: fixture.clock)
            #expect(try status().isStale && status().state.lastGood != nil)
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(Self.configuration, clock: fixture.clock)
            #expect(try !status().isStale)
        }
    }
}
