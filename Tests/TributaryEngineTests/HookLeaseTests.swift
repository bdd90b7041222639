import FeedModel
import FeedStores
import Foundation
import PostgresStore
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Hooks of several daemons, and of one whose configuration changes.
@Suite struct HookLeaseTests {
    private static func wait(_ condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try !condition() {
            guard .now < deadline else { throw HookFixture.Late(description: "not within 120 s") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// The changes of a long run are read for longer than a lease holds. Another daemon that takes the hook meanwhile is the
    /// one that sends the event.
    @Test(.onEachStore) func aHookThatAnotherDaemonHasTakenWhileChangesAreReadSendsNothing() async throws {
        guard StoreKind.current == .postgres else { return }
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            let mapping = HookFixture.mapping("s", cache: "1000d")
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(mapping, clock: fixture.clock)
            let service = try fixture.service(mapping, clock: SystemClock())
            let store = service.store
            defer { try? store.close() }
            // A run is before a hook, and is told, once every transaction at the server began after it.
            try await Self.wait { try store.read { try $0.changelog.runs(after: .start, limit: 9) }.count == 1 }
            _ = try store.declareHooks(["chat"])
            fixture.server.document("/a", EngineFixture.items(["1", "2"]))
            try await fixture.sync(mapping, clock: fixture.clock)
            try await Self.wait { try store.read { try $0.changelog.runs(after: .start, limit: 9) }.count == 2 }
            let other = try PostgresConnection(try #require(fixture.store.url))
            defer { other.close() }
            try other.executeScript("BEGIN; LOCK TABLE tributary_change IN ACCESS EXCLUSIVE MODE")
            let configuration = mapping + EngineFixture.hook("\"changed\"")
            try await HookFixture.run(fixture, configuration, clock: fixture.clock) { (hooks) async throws in
                let waiting = """
                    SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'tributary_change'::regclass
                    """
                try await hooks.wait("the reading of changes") {
                    fixture.clock.advance(by: 0.1)
                    return try fixture.rows("SELECT holder IS NULL FROM tributary_hook") == ["0"]
                        && fixture.rows(waiting) == ["1"]
                }
                // As on a server whose lease has run out.
                try fixture.store.execute(
                    "UPDATE tributary_hook SET holder = 'other', held_until = now() + interval '1 hour'")
                fixture.clock.advance(by: 6)
                try other.execute("ROLLBACK")
                // The changes are read, and no statement waits.
                try await hooks.wait("the end of the reading") { try fixture.rows(waiting) == ["0"] }
                try fixture.store.execute("UPDATE tributary_hook SET holder = NULL, held_until = NULL")
                try await hooks.wait("the delivery") {
                    fixture.clock.advance(by: 0.5)
                    return try fixture.rows("SELECT delivered_at IS NULL FROM tributary_hook") == ["0"]
                }
                #expect(try hooks.events().map(\.inserted) == [1])
            }
        }
    }

    /// A hook that finds its row deleted declares all hooks of the present file again, not those of its start.
    @Test func aHookThatIsDeclaredAgainLeavesThoseOfAReload() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            fixture.server.route("/refuse") { _ in StubServer.response(500, "") }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(HookFixture.mapping())
            let first = HookFixture.mapping() + EngineFixture.hook("\"changed\"")
            try await HookFixture.run(fixture, first) { (hooks) async throws in
                let both = first + EngineFixture.hook("\"changed\"", name: "late", path: "/refuse")
                hooks.service.reload(try fixture.configuration(both))
                let declared = "SELECT name FROM tributary_hook ORDER BY name"
                try await hooks.wait("the new hook") { try fixture.rows(declared) == ["chat", "late"] }
                try await hooks.commit(1..<4)
                let failed = "SELECT attempts > 0 FROM tributary_hook WHERE name = 'late'"
                try await hooks.wait("a refused event") { try fixture.rows(failed) == ["1"] }
                try fixture.store.execute("DELETE FROM tributary_hook WHERE name = 'chat'")
                try await hooks.wait("the hook again") { try fixture.rows(declared) == ["chat", "late"] }
                #expect(try fixture.rows(failed) == ["1"])
            }
        }
    }

    /// A reload adds a secret, and a program of an unchanged hook prints it.
    @Test func aSecretOfAReloadIsRemovedFromTheOutputOfUnchangedHooks() async throws {
        let secret = "sw0rdfish-and-forty-other-fishes"
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(HookFixture.mapping())
            let hook = """
                [hooks.chat]
                on = ["changed"]
                run = ["/bin/sh", "-c", "echo the key is \(secret); exit 3"]

                """
            try await HookFixture.run(fixture, HookFixture.mapping() + hook) { (hooks) async throws in
                let other = HookFixture.mapping("t", path: "/b", "headers = { X-Key = \"${KEY}\" }")
                hooks.service.reload(
                    try fixture.configuration(
                        HookFixture.mapping() + hook + other + EngineFixture.hook("\"blocked\"", name: "late"),
                        environment: ["KEY": secret]))
                try await hooks.wait("the new hook") {
                    try fixture.rows("SELECT count(*) FROM tributary_hook") == ["2"]
                }
                try await hooks.commit(1..<4)
                try await hooks.wait("an error") {
                    try fixture.rows("SELECT error IS NULL FROM tributary_hook WHERE name = 'chat'") == ["0"]
                }
                let error = try fixture.rows("SELECT error FROM tributary_hook WHERE name = 'chat'")
                #expect(error == ["/bin/sh ended with status 3: the key is [secret]"])
            }
        }
    }
}
