import FeedModel
import FeedConfiguration
import FeedFetching
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// What hooks are told, in which order, and what the store remembers of it.
@Suite struct HookTests {
    @Test(.onEachStore) func aCommitIsToldOnceWithItsRowsAndASignature() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            let hook = EngineFixture.hook("\"changed\"", "secret = \"\(HookFixture.secret)\"\nrows = 2")
            fixture.server.document("/a", EngineFixture.items(["1", "2", "3"]))
            // What was before the hook is not told.
            try await fixture.sync(HookFixture.mapping())
            try await HookFixture.run(fixture, HookFixture.mapping() + hook) { (hooks) async throws in
                try await hooks.commit(2..<6)
                let event = try #require(try await hooks.events(count: 1).first)
                #expect(event.type == "changed" && event.source == "s" && event.error == nil)
                #expect((event.inserted, event.updated, event.deleted) == (2, 0, 1))
                #expect(event.changes.count == 2 && event.changes_omitted == 1)
                #expect(Set(event.changes.map(\.table)) == ["thing_s"])
                let request = try #require(hooks.server.requests("/hook").first)
                #expect(request.headers["webhook-id"] == event.id)
                let time = try #require(request.headers["webhook-timestamp"])
                let signature = try Self.signature("\(event.id).\(time).\(request.body)")
                #expect(request.headers["webhook-signature"] == signature)
                // An unchanged document is not told, and the next change comes after it.
                try await hooks.commit(2..<6)
                try await hooks.commit(2..<7)
                let events = try await hooks.events(count: 2)
                #expect(events.map(\.inserted) == [2, 1])
                try await hooks.wait("the cursor") {
                    try fixture.rows("SELECT run, step, error FROM tributary_hook") == ["\(events[1].run ?? 0)|0|NULL"]
                }
            }
        }
    }

    /// Written once more, by the text of the standard.
    private static func signature(_ text: String) throws -> String {
        let key = try #require(Data(base64Encoded: String(HookFixture.secret.dropFirst(6))))
        return "v1," + Data(HMAC.code(of: Data(text.utf8), key: key)).base64EncodedString()
    }

    @Test func theStandardsOwnExampleIsSignedAsItSays() throws {
        let secret = try #require(HookSecret(HookFixture.secret))
        let signature = WebhookClient.signature(
            of: Data(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330", secret
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func aSourceThatFailsIsToldOnceAndSoIsItsRecovery() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for path in ["/hook", "/late", "/only"] { fixture.accept(path) }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let hooks =
                EngineFixture.hook("\"failing\", \"recovered\", \"changed\"", "after = \"0s\"")
                + EngineFixture.hook("\"failing\", \"recovered\"", name: "late", path: "/late", "after = \"1h\"")
                + EngineFixture.hook("\"recovered\"", name: "only", path: "/only", "after = \"0s\"")
            try await fixture.sync(HookFixture.mapping())
            try await HookFixture.run(fixture, HookFixture.mapping() + hooks) { (hooks) async throws in
                try await hooks.fail()
                try await hooks.fail()
                try await hooks.commit(1..<3)
                try await hooks.commit(1..<4)
                let events = try await hooks.events(count: 4)
                #expect(events.map(\.type) == ["failing", "recovered", "changed", "changed"])
                #expect(events[0].error?.contains("500") == true && events[0].failing_since != nil)
                #expect(events[1].failing_since == events[0].failing_since && events[1].error == nil)
                #expect(Set(events.map(\.id)).count == 4)
                // A recovery follows a failure that was told, or would have been.
                #expect(try await hooks.events("/only", count: 1).map(\.type) == ["recovered"])
                #expect(try hooks.events("/late").isEmpty)
                try await hooks.wait("what was told to be over") {
                    try fixture.rows("SELECT count(*) FROM tributary_hook_source") == ["0"]
                }
            }
        }
    }

    @Test func aSourceThatIsNotAskedAnyMoreIsToldByTheClock() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            fixture.server.route("/a") { _ in StubServer.response(410, "") }
            let configuration =
                HookFixture.mapping() + EngineFixture.hook("\"failing\", \"recovered\"", "after = \"10m\"")
            try await HookFixture.run(fixture, configuration, clock: fixture.clock) { (hooks) async throws in
                try await hooks.wait("the failure") {
                    try fixture.rows("SELECT outcome FROM tributary_source") == ["discarded"]
                }
                while try hooks.events().isEmpty {
                    fixture.clock.advance(by: 5)
                    try await Task.sleep(for: .milliseconds(2))
                }
                let waited = fixture.clock.now().timeIntervalSince1970 - 1_800_000_000
                #expect(waited >= 600)
                let events = try hooks.events()
                #expect(events.map(\.type) == ["failing"] && events[0].error?.contains("410") == true)
                #expect(try fixture.rows("SELECT count(*) FROM tributary_run") == ["1"])
            }
        }
    }

    @Test func whatIsHeldBackIsToldOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            fixture.server.document("/a", EngineFixture.items((0..<200).map(String.init)))
            try await fixture.sync(HookFixture.mapping())
            let hook = EngineFixture.hook("\"blocked\", \"changed\"")
            try await HookFixture.run(fixture, HookFixture.mapping() + hook) { (hooks) async throws in
                try await hooks.commit(0..<10)
                try await hooks.commit(0..<10)
                #expect(try fixture.rows("SELECT blocked FROM tributary_source") == ["1"])
                #expect(
                    try fixture.rows("SELECT outcome = 'blocked' FROM tributary_run ORDER BY id") == ["0", "1", "1"])
                try await hooks.commit(0..<199)
                let events = try await hooks.events(count: 2)
                #expect(events.map(\.type) == ["blocked", "changed"])
                #expect(events[0].error?.contains("tributary accept s") == true)
                #expect(try fixture.rows("SELECT blocked FROM tributary_source") == ["0"])
            }
        }
    }

    @Test(.onEachStore) func aHookGoesOnWhereItWasAndTellsWhatWasForgotten() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            let configuration = HookFixture.mapping() + EngineFixture.hook("\"changed\"")
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await HookFixture.run(fixture, configuration) { (hooks) async throws in
                _ = try await hooks.events(count: 1)
                try await hooks.wait("the cursor") { try fixture.rows("SELECT run FROM tributary_hook") == ["1"] }
            }
            // While no daemon runs.
            for count in 2...5 {
                fixture.server.document("/a", EngineFixture.items((1...count).map(String.init)))
                try await fixture.sync(HookFixture.mapping())
            }
            try await HookFixture.run(fixture, configuration) { (hooks) async throws in
                let events = try await hooks.events(count: 5)
                #expect(events.map(\.inserted) == [1, 1, 1, 1, 1])
                let runs = events.compactMap(\.run)
                #expect(runs.count == 5 && runs == runs.sorted())
            }
            for count in 6...8 {
                fixture.server.document("/a", EngineFixture.items((1...count).map(String.init)))
                try await fixture.sync(HookFixture.mapping())
            }
            let runs = try fixture.rows("SELECT id FROM tributary_run ORDER BY id").compactMap { Int($0) }
            try fixture.store.execute("DELETE FROM tributary_run WHERE id < \(runs[runs.count - 1])")
            try await HookFixture.run(fixture, configuration) { (hooks) async throws in
                let events = try await hooks.events(count: 7)
                #expect(events.dropFirst(5).map(\.type) == ["forgotten", "changed"])
                #expect(events[5].error?.contains("were deleted before their events") == true)
                try await hooks.wait("the cursor") {
                    try fixture.rows("SELECT run FROM tributary_hook") == ["\(runs[runs.count - 1])"]
                }
            }
        }
    }

    @Test(.onEachStore) func severalServicesTellOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            let configuration = HookFixture.mapping() + EngineFixture.hook("\"changed\"")
            fixture.server.document("/a", EngineFixture.items(["0"]))
            try await fixture.sync(HookFixture.mapping())
            try await HookFixture.run(fixture, configuration) { (first) async throws in
                try await HookFixture.run(fixture, configuration) { (second) async throws in
                    for count in 2...6 {
                        fixture.server.document("/a", EngineFixture.items((0..<count).map(String.init)))
                        try await fixture.sync(HookFixture.mapping())
                    }
                    let events = try await first.events(count: 5)
                    try await second.wait("the cursor") {
                        try fixture.rows("SELECT run FROM tributary_hook") == ["\(events[4].run ?? 0)"]
                    }
                    #expect(try second.events().count == 5)
                }
            }
        }
    }

    @Test func aHookThatIsNotDeclaredAnyMoreIsForgotten() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let hook = EngineFixture.hook("\"changed\"")
            try await HookFixture.run(fixture, HookFixture.mapping() + hook) { (hooks) async throws in
                _ = try await hooks.events(count: 1)
            }
            try await HookFixture.run(fixture, HookFixture.mapping()) { (hooks) async throws in
                #expect(try fixture.rows("SELECT count(*) FROM tributary_hook") == ["0"])
                try await hooks.commit(1..<4)
                hooks.service.reload(try fixture.configuration(HookFixture.mapping() + hook))
                try await hooks.wait("the new hook") {
                    try fixture.rows("SELECT count(*) FROM tributary_hook") == ["1"]
                }
                try await hooks.commit(1..<6)
                #expect(try await hooks.events(count: 2).map(\.inserted) == [1, 2])
            }
        }
    }
}
