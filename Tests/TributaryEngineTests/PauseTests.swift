import FeedModel
import FeedStores
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// `pause` and `resume`: nothing is fetched for a paused source.
@Suite struct PauseTests {
    private static let source = EngineFixture.request("/a", "sync = \"mirror\"")

    private static func store(_ fixture: EngineFixture) throws -> any MainStore {
        try #require(try fixture.configuration(source).openExistingStore(isWritten: true))
    }

    @Test func nothingIsFetchedUntilItIsResumed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(Self.source)
            let store = try Self.store(fixture)
            defer { try? store.close() }
            #expect(try store.write { try $0.sources.pause(["s"], now: SystemClock().now()) } == ["s"])
            #expect(try store.write { try $0.sources.pause(["s"], now: SystemClock().now()) }.isEmpty)
            fixture.server.document("/a", EngineFixture.items(["1", "2"]))
            // Neither force nor another declaration ends the pause.
            for declaration in [Self.source, EngineFixture.request("/a", "sync = \"mirror\"\nheaders = { X = \"1\" }")]
            {
                let report = try #require(await fixture.sync(declaration).first)
                #expect(report.outcome == .notDue && report.error == nil, "\(report)")
                #expect(report.note?.contains("nothing is fetched until `tributary resume s`") == true, "\(report)")
            }
            #expect(fixture.server.requests("/a").count == 1)
            #expect(try store.states(of: "s").source.isPaused)
            #expect(try store.write { try $0.sources.resume(["s"]) } == ["s"])
            #expect(try await fixture.sync(Self.source).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "2"])
        }
    }

    /// The record of a run that was in progress leaves the pause unchanged.
    @Test(.onEachStore) func aRunInProgressEndsAndTheSourceStaysPaused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            // Creates the store.
            try fixture.service(Self.source, clock: SystemClock()).store.close()
            let store = try Self.store(fixture)
            defer { try? store.close() }
            fixture.server.route("/a") { _ in
                _ = try? store.write { try $0.sources.pause(["s"], now: SystemClock().now()) }
                return StubServer.response(200, EngineFixture.items(["1"]))
            }
            #expect(try await fixture.sync(Self.source).first?.outcome == .committed)
            #expect(try store.states(of: "s").source.pausedAt != nil)
            #expect(try await fixture.sync(Self.source).first?.outcome == .notDue)
        }
    }

    @Test func aSourceThatNeverRanIsPaused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            // Creates the store.
            try fixture.service(Self.source, clock: SystemClock()).store.close()
            let store = try Self.store(fixture)
            defer { try? store.close() }
            #expect(try store.write { try $0.sources.pause(["s"], now: SystemClock().now()) } == ["s"])
            #expect(try await fixture.sync(Self.source).first?.outcome == .notDue)
            #expect(fixture.server.requests("/a").isEmpty)
        }
    }
}
