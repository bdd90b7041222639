import Foundation
import TestStores
import TestSupport
import Testing

/// A daemon that commits and tells, killed at any instant. `TRIBUTARY_HOOK_KILLS=200` kills it more often.
@Suite(.onEachStore, .serialized) struct KilledHookTests {
    private static let kills = ProcessInfo.processInfo.environment["TRIBUTARY_HOOK_KILLS"].flatMap { Int($0) } ?? 24

    @Test func everyCommitIsToldInOrder() async throws {
        let hook = "[hooks.chat]\non = [\"changed\"]\npost = \"URL/hook\"\n"
        try await TellingFixture.with(sources: 6, cache: "1s", hooks: hook) { (fixture) async throws in
            var numbers = SplitMix64(seed: 15)
            // From the first commit on, the hook is known.
            let first = try fixture.program.start(["run", "--log-level", "error"])
            try await fixture.wait("the first events") { fixture.server.requests("/hook").count >= 6 }
            first.signal(SIGKILL)
            #expect(await first.end() == -SIGKILL)
            try letTimePass(fixture)
            for _ in 1..<Self.kills {
                let daemon = try fixture.program.start(["run", "--log-level", "error"])
                try await Task.sleep(for: .milliseconds(Int.random(in: 50...700, using: &numbers)))
                daemon.signal(SIGKILL)
                #expect(await daemon.end() == -SIGKILL)
                try letTimePass(fixture)
            }
            let daemon = try fixture.program.start(["run", "--log-level", "error"])
            let last = fixture.server.requests("/hook").count
            try await fixture.wait("events of the last daemon") { fixture.server.requests("/hook").count > last + 6 }
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0)
            let events = try fixture.events()
            // An event that comes again comes at once.
            let told = events.reduce(into: [TellingFixture.Event]()) { if $0.last?.id != $1.id { $0.append($1) } }
            #expect(Set(told.map(\.id)).count == told.count)
            for index in 0..<6 {
                let runs = try fixture.store.rows(
                    "SELECT id FROM tributary_run WHERE source = 's\(index)' AND inserted > 0 ORDER BY id")
                let ids = told.filter { $0.source == "s\(index)" }.compactMap(\.run).map(String.init)
                // The daemon may have stopped before it told the last.
                #expect(ids == Array(runs.prefix(ids.count)) && runs.count - ids.count <= 2, "\(ids) \(runs)")
            }
            let text = "\(events.count) events, \(events.count - told.count) of them repeated"
            #expect(events.count - told.count <= Self.kills, "\(text)")
        }
    }

    /// The waits that a death brings about: of the source that ran, and for leases on a server.
    private func letTimePass(_ fixture: TellingFixture) throws {
        try fixture.store.execute("UPDATE tributary_source SET attempts = 0, next_due = NULL")
        guard StoreKind.current == .postgres else { return }
        try fixture.store.execute(
            """
            UPDATE tributary_source SET holder = NULL, held_until = NULL;
            UPDATE tributary_hook SET holder = NULL, held_until = NULL;
            DELETE FROM tributary_daemon
            """)
    }
}
