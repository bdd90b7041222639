import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Why a source waits, and until when: the wait that decides, by one value.
@Suite struct SourceWaitTests {
    private static func source(_ name: String, url: String? = nil) -> String {
        HookFixture.mapping(name, path: "/\(name)", cache: "10m").replacing(
            "URL/\(name)", with: url ?? "URL/\(name)")
    }

    private func status(_ fixture: EngineFixture, _ sources: String, isDaemonRunning: Bool = false) throws
        -> [String: SourceStatus]
    {
        let configuration = try fixture.configuration(sources)
        let store = try #require(try configuration.openExistingStore())
        defer { try? store.close() }
        let now = fixture.clock.now()
        let status = try StoreStatus(configuration, in: store, isDaemonRunning: isDaemonRunning, now: now)
        for source in status.sources {
            // The page of one source says the same.
            let state = try store.read { try $0.sources.state(of: source.state.source) }
            let alone = try StoreStatus.source(
                source.declaration, state, configuration, in: store, pauses: [:], now: now)
            #expect(alone.wait == source.wait || !isDaemonRunning && alone.wait?.reason == .slot)
        }
        return Dictionary(uniqueKeysWithValues: status.sources.map { ($0.state.source, $0) })
    }

    private func answer(_ fixture: EngineFixture, _ name: String, _ status: Int, retryAfter: String? = nil) {
        fixture.server.route("/\(name)") { _ in
            StubServer.response(status, "", retryAfter.map { ["Retry-After": $0] } ?? [:])
        }
    }

    @Test func aHostThatAsksOneSourceToWaitHoldsTheOthersAndTheyNameIt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let clock = fixture.clock
            let other = fixture.server.url.replacing("127.0.0.1", with: "localhost") + "/other"
            let sources =
                Self.source("supplier") + Self.source("shop") + Self.source("new") + Self.source("other", url: other)
            for name in ["shop", "other"] { fixture.server.document("/\(name)", EngineFixture.items(["1"])) }
            try await fixture.sync(sources, ["shop", "other"], clock: clock)
            answer(fixture, "supplier", 429, retryAfter: "7200")
            try await fixture.sync(sources, ["supplier"], clock: clock)
            let end = clock.now() + 7200
            var found = try status(fixture, sources)
            for name in ["shop", "new"] {
                let wait = try #require(found[name]?.wait)
                #expect(
                    wait.text
                        == "waits for \(fixture.server.url) until 2027-01-15 10:00 UTC, as it asked source 'supplier' to wait"
                )
                #expect(wait.reason == .host && wait.until == end)
                #expect(found[name]?.state.nextDue == end && found[name]?.state.note == wait.text)
            }
            #expect(found["supplier"]?.wait?.text == "the server asks to wait until 2027-01-15 10:00 UTC")
            #expect(found["supplier"]?.state.nextDue == end)
            #expect(found["other"]?.wait == nil && found["other"]?.state.note == nil)
            clock.advance(by: 6_000)
            let reports = try await fixture.sync(sources, ["shop"], mode: .whenDue, clock: clock)
            #expect(reports.first?.outcome == .notDue)
            #expect(abs(reports.first?.nextDue?.timeIntervalSince(end) ?? 9) < 1)
            #expect(
                reports.first?.note
                    == "nothing is sent before 2027-01-15 10:00 UTC, as a server of the source asks to wait")
            clock.advance(by: 1_201)
            found = try status(fixture, sources)
            #expect(found["shop"]?.wait == nil && found["supplier"]?.wait == nil)
        }
    }

    /// A server asks for two minutes each time, and the back-off is longer: it is what counts, and is named.
    @Test func theLongerOfTheWaitsIsNamedWithItsTime() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.source("supplier") + Self.source("shop")
            answer(fixture, "supplier", 429, retryAfter: "120")
            for _ in 0..<5 {
                try await fixture.sync(sources, ["supplier"], clock: fixture.clock)
                fixture.clock.advance(by: 121)
            }
            try await fixture.sync(sources, ["supplier"], clock: fixture.clock)
            let found = try status(fixture, sources)
            let supplier = try #require(found["supplier"])
            let due = try #require(supplier.state.nextDue)
            #expect(due.timeIntervalSince(fixture.clock.now()) > 1_000)
            #expect(supplier.wait?.reason == .backOff && supplier.wait?.until == due)
            #expect(supplier.wait?.text == "6 failed runs in a row; next attempt \(DueTime.text(ofEnd: due))")
            #expect(supplier.state.note == supplier.wait?.text)
            #expect(found["shop"]?.wait?.until == fixture.clock.now() + 120)
            let json = try JSONOutput.line(supplier)
            #expect(json.contains("\"wait\":{\"reason\":\"back_off\",\"until\":\""), "\(json)")
        }
    }

    @Test func aBusyServerAndAFailureAreNamed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let other = fixture.server.url.replacing("127.0.0.1", with: "localhost")
            let sources =
                Self.source("busy") + Self.source("broken", url: other + "/broken")
                + Self.source("good", url: other + "/good")
            answer(fixture, "busy", 503, retryAfter: "7200")
            answer(fixture, "broken", 500)
            fixture.server.document("/good", EngineFixture.items(["1"]))
            try await fixture.sync(sources, clock: fixture.clock)
            let found = try status(fixture, sources)
            #expect(found["busy"]?.wait?.reason == .host)
            #expect(found["busy"]?.wait?.text == "the server asks to wait until 2027-01-15 10:00 UTC")
            #expect(found["busy"]?.wait?.until == fixture.clock.now() + 7200)
            #expect(found["broken"]?.wait?.text.hasPrefix("failed; next attempt 2027-01-15 08:0") == true)
            #expect(found["good"]?.wait == nil)
            #expect(try fixture.rows("SELECT note FROM tributary_source") == ["NULL", "NULL", "NULL"])
        }
    }

    /// After `kill -9`, a source waits for a minute.
    @Test func aProcessThatDiedDuringARunIsNamed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", EngineFixture.items(["1"]))
            let sources = Self.source("s")
            try await fixture.sync(sources, clock: fixture.clock)
            let service = try fixture.service(sources, clock: fixture.clock)
            defer { try? service.store.close() }
            let now = fixture.clock.now()
            try await service.store.writeInGroup {
                try $0.sources.recordAttempt(of: "s", number: 1, wait: 60, declared: "", now: now)
            }
            let claim = try #require(try service.store.claim("s"))
            let others = try ["a", "b", "c"].map { try #require(try service.store.claim($0)) }
            defer { for other in others { other.unlock() } }
            #expect(try service.store.claimed(among: ["d", "a", "s", "b"]) == ["s", "a", "b"])
            var found = try #require(try status(fixture, sources)["s"])
            #expect(found.wait == nil && found.isRunning)
            claim.unlock()
            #expect(try service.store.claimed(among: ["d", "a", "s", "b"]) == ["a", "b"])
            found = try #require(try status(fixture, sources)["s"])
            #expect(!found.isRunning)
            let declared = try #require(try fixture.configuration(sources)[source: "s"]?.identity)
            try await service.store.writeInGroup {
                try $0.sources.recordAttempt(of: "s", number: 1, wait: 60, declared: declared, now: now)
            }
            let wait = try #require(try status(fixture, sources)["s"]?.wait)
            #expect(wait.reason == .process && wait.until == now + 60)
            #expect(wait.text == "the process died during the last run; next attempt 2027-01-15 08:01 UTC")
        }
    }

    @Test func aDueSourceOfADaemonWaitsForASlot() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", EngineFixture.items(["1"]))
            let sources = Self.source("s") + Self.source("new")
            try await fixture.sync(sources, ["s"], clock: fixture.clock)
            #expect(try status(fixture, sources, isDaemonRunning: true)["s"]?.wait == nil)
            #expect(try status(fixture, sources)["new"]?.wait == nil)
            fixture.clock.advance(by: 601)
            let found = try status(fixture, sources, isDaemonRunning: true)
            for name in ["s", "new"] {
                #expect(found[name]?.wait?.text == "due: waits for a slot, for its host, or for rows of another source")
            }
            let service = try fixture.service(sources, clock: fixture.clock)
            defer { try? service.store.close() }
            let claim = try #require(try service.store.claim("s"))
            #expect(try status(fixture, sources, isDaemonRunning: true)["s"]?.wait == nil)
            claim.unlock()
        }
    }

    /// A feed whose undone version is not known can only be compared by committing it.
    @Test func anUndoneSourceThatIsHeldBackIsNotDue() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.source("s")
            let source = try #require(try fixture.configuration(sources)[source: "s"])
            var state = SourceState(source: "s", outcome: .committed, lastRun: fixture.clock.now())
            for (undone, word) in [(nil, nil), (UndoneFeed(run: 1, [:]), "after resume")] as [(UndoneFeed?, String?)] {
                state.undone = try undone?.text
                state.nextDue = fixture.clock.now()
                let status = SourceStatus(
                    source, state, nil, nil, isRunning: false, among: nil, now: fixture.clock.now())
                #expect(status.dueWord == word && source.isHeldBack(in: state) == (undone != nil))
            }
        }
    }
}
