import FeedModel
import FeedStores
import Foundation
import PostgresStore
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine
@testable import FeedConfiguration

/// Where a hook stands, and what comes next.
@Suite struct HookQueueTests {
    private static let hook = HookDeclaration(
        name: "h", events: [.changed, .failing, .recovered], sources: [], after: .zero, rows: 100,
        timeout: .seconds(5), receiver: .program([InterpolatedText("true")]))

    /// Runs a body with a store that has a source `s` without a hook, whose document is served at `/a`.
    private func with(
        _ options: String = "", _ body: (EngineFixture, any MainStore, _ mapping: String) async throws -> Void
    ) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = HookFixture.mapping("s", options)
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(mapping)
            let service = try fixture.service(mapping, clock: SystemClock())
            defer { try? service.store.close() }
            try await body(fixture, service.store, mapping)
        }
    }

    /// Waits until a condition holds. Runs are told once they are before every transaction at the server, also of other
    /// tests.
    private func wait(_ condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try !condition() {
            guard .now < deadline else { throw HookFixture.Late(description: "not within 120 s") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func waitUntilTold(_ fixture: EngineFixture, _ store: any MainStore) async throws {
        let count = try fixture.rows("SELECT count(*) FROM tributary_run")
        try await wait { ["\(try store.read { try $0.changelog.runs(after: .start, limit: 100) }.count)"] == count }
    }

    private func queue(_ store: any MainStore) throws -> HookQueue {
        try HookQueue(Self.hook, store, state: try #require(try store.read { try $0.hooks.state(of: "h") }))
    }

    /// The status of a hook counts what it has to be told, whoever has passed how many others.
    @Test(.onEachStore) func aHookIsBehindByTheRunsOfWhichItIsTold() async throws {
        try await with { (fixture, store, mapping) async throws in
            try await waitUntilTold(fixture, store)
            _ = try store.declareHooks(["h"])
            func behind() throws -> Int {
                try HookStatus(Self.hook, store.read { try $0.hooks.state(of: "h") }, in: store).behind
            }
            for _ in 0..<3 { try await fixture.sync(mapping) }
            try await waitUntilTold(fixture, store)
            #expect(try behind() == 0)
            fixture.server.document("/a", EngineFixture.items(["1", "2"]))
            for _ in 0..<3 { try await fixture.sync(mapping) }
            try await waitUntilTold(fixture, store)
            #expect(try behind() == 1)
            fixture.server.document("/a", EngineFixture.items(["1", "2", "3"]))
            try await fixture.sync(mapping)
            try await waitUntilTold(fixture, store)
            #expect(try behind() == 2)
        }
    }

    /// A hook that lags by days is counted for the metrics every 15 s.
    @Test func aCountContinuesWhereItEnded() async throws {
        try await with { (fixture, store, mapping) async throws in
            try await waitUntilTold(fixture, store)
            _ = try store.declareHooks(["h"])
            var counted = try queue(store)
            #expect(try counted.countUnsent(limit: 100).count == 0)
            for count in 2...4 {
                fixture.server.document("/a", EngineFixture.items((1...count).map(String.init)))
                try await fixture.sync(mapping)
                try await fixture.sync(mapping)
                try await waitUntilTold(fixture, store)
                let unsent = try counted.countUnsent(limit: 100)
                var whole = try queue(store)
                let expected = try whole.countUnsent(limit: 100)
                #expect(unsent.count == count - 1 && expected.count == count - 1)
                #expect(unsent.first?.position == expected.first?.position)
            }
            // The runs that were read count towards the limit.
            var limited = try queue(store)
            #expect(try limited.countUnsent(limit: 1).count == 3)
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(mapping)
            try await waitUntilTold(fixture, store)
            #expect(try limited.countUnsent(limit: 1).count == 3)
            #expect(try counted.countUnsent(limit: 100).count == 4)
        }
    }

    /// A stop must not wait until 700,000 runs without an event are passed.
    @Test func aCancelledTaskPassesOverNoMoreRuns() async throws {
        try await with { (fixture, store, mapping) async throws in
            try await waitUntilTold(fixture, store)
            _ = try store.declareHooks(["h"])
            try await fixture.sync(mapping)
            try await waitUntilTold(fixture, store)
            let state = try #require(try store.read { try $0.hooks.state(of: "h") })
            let passing = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                var queue = try HookQueue(Self.hook, store, state: state)
                #expect(throws: CancellationError.self) { try queue.next(of: WatchedSources(["s"]), now: .now) }
                #expect(queue.readTo == state.position)
                #expect(throws: CancellationError.self) { try queue.countUnsent(limit: 100) }
            }
            try await passing.value
            var queue = try queue(store)
            _ = try queue.next(of: WatchedSources(["s"]), now: .now)
            #expect(queue.readTo > state.position)
        }
    }

    /// A failure that the clock tells takes the hook behind all runs that were read.
    @Test func whatTheClockTellsHasAPlace() async throws {
        try await with { (fixture, store, mapping) async throws in
            try await waitUntilTold(fixture, store)
            _ = try store.declareHooks(["h"])
            // Runs of which there is nothing to tell.
            for _ in 0..<3 { try await fixture.sync(mapping) }
            try await waitUntilTold(fixture, store)
            let last = try #require(try store.read { try $0.changelog.runs(after: .start, limit: 100) }.last?.position)
            let before = try #require(try store.read { try $0.hooks.state(of: "h") }?.position)
            #expect(before < last)
            try fixture.store.execute(
                "UPDATE tributary_source SET failing_since = last_run, error = 'no answer', outcome = 'discarded'")
            var queue = try queue(store)
            let item = try #require(try queue.next(of: WatchedSources(["s"]), now: .now).item)
            #expect(item.event?.kind == .failing && item.event?.error == "no answer" && item.event?.run == nil)
            #expect(item.progress.position == last && item.progress.step == 0)
            #expect(try store.holdHook("h"))
            // It waits in the store, and the runs before it are not read again.
            let pending = try #require(try item.pending?.text)
            try store.write { try $0.hooks.begin("h", pending, after: item.progress) }
            queue.began(pending, after: item.progress)
            var taken = try self.queue(store)
            let again = try #require(try taken.next(of: WatchedSources(["s"]), now: .now).item)
            #expect(again.event?.id == item.event?.id && again.progress.position == last)
            try store.write { try $0.hooks.advance("h", item.progress) }
            queue.advanced(item.progress)
            #expect(try queue.next(of: WatchedSources(["s"]), now: .now).item == nil)
            #expect(try store.read { try $0.hooks.state(of: "h") }?.position == last)
            // An undo has ended the failure, and the run after it changes nothing: it has recovered all the same.
            try fixture.store.execute("UPDATE tributary_source SET failing_since = NULL, outcome = 'committed'")
            try await fixture.sync(mapping)
            try await waitUntilTold(fixture, store)
            let end = try #require(try queue.next(of: WatchedSources(["s"]), now: .now).item)
            #expect(end.event?.kind == .recovered && end.progress.memory?.known == HookMemory())
        }
    }

    /// A run that cannot be read yet may be the one that ends the failure.
    @Test(.onEachStore) func theClockWaitsForRunsThatCannotBeReadYet() async throws {
        guard StoreKind.current == .postgres else { return }
        try await with { (fixture, store, mapping) async throws in
            try await waitUntilTold(fixture, store)
            _ = try store.declareHooks(["h"])
            try fixture.store.execute("UPDATE tributary_source SET failing_since = last_run, outcome = 'discarded'")
            let other = try PostgresConnection(try #require(fixture.store.url))
            defer { other.close() }
            try other.execute("BEGIN")
            _ = try other.execute("SELECT pg_current_xact_id()")
            try await fixture.sync(mapping)
            try fixture.store.execute("UPDATE tributary_source SET failing_since = last_run, outcome = 'discarded'")
            var queue = try queue(store)
            let next = try queue.next(of: WatchedSources(["s"]), now: .now)
            #expect(next.item == nil && next.due == nil)
            try other.execute("COMMIT")
            try await wait { try queue.next(of: WatchedSources(["s"]), now: .now).item != nil }
        }
    }

    /// Numbers of runs are lost on a server without anything being forgotten.
    @Test(.onEachStore) func aGapInTheNumbersIsNothingForgotten() async throws {
        try await with { (fixture, store, mapping) async throws in
            try await waitUntilTold(fixture, store)
            _ = try store.declareHooks(["h"])
            // The source was not asked for longer than runs are remembered.
            try fixture.store.execute(
                StoreKind.by(
                    sqlite: "UPDATE tributary_run SET finished_at = '2001-01-01T00:00:00.000Z'",
                    postgres: """
                        UPDATE tributary_run SET finished_at = '2001-01-01';
                        SELECT nextval(pg_get_serial_sequence('tributary_run', 'id'))
                        """))
            fixture.server.document("/a", EngineFixture.items(["1", "2"]))
            try await fixture.sync(mapping)
            try await waitUntilTold(fixture, store)
            var queue = try queue(store)
            let item = try #require(try queue.next(of: WatchedSources(["s"]), now: .now).item)
            #expect(item.event?.kind == .changed)
        }
    }

    /// The rest of a run that a hook was told in part is forgotten with it.
    @Test(.onEachStore) func theRestOfARunIsForgottenWithIt() async throws {
        try await with { (fixture, store, mapping) async throws in
            try await waitUntilTold(fixture, store)
            _ = try store.declareHooks(["h"])
            for count in 2...3 {
                fixture.server.document("/a", EngineFixture.items((1...count).map(String.init)))
                try await fixture.sync(mapping)
            }
            try await waitUntilTold(fixture, store)
            let runs = try store.read { try $0.changelog.runs(after: .start, limit: 100) }
            try #require(runs.count == 3)
            #expect(try store.holdHook("h"))
            try store.write { try $0.hooks.advance("h", HookProgress(position: runs[1].position, step: 3)) }
            try fixture.store.execute("DELETE FROM tributary_run WHERE id < \(runs[2].position.run)")
            var queue = try queue(store)
            let item = try #require(try queue.next(of: WatchedSources(["s"]), now: .now).item)
            #expect(item.event?.kind == .forgotten)
            let error = item.event?.error ?? ""
            #expect(
                error == "run \(runs[1].position.run) was deleted before all of its events were delivered", "\(error)")
            try store.write { try $0.hooks.advance("h", item.progress) }
            queue.advanced(item.progress)
            let changed = try #require(try queue.next(of: WatchedSources(["s"]), now: .now).item)
            #expect(changed.event?.kind == .changed && changed.event?.run == runs[2].position.run)
        }
    }

    /// The failure was over when it had lasted long enough; the run that failed is named, and not the one that was good.
    @Test func aShortFailureNamesTheRunThatFailed() async throws {
        try await with { (fixture, store, mapping) async throws in
            try await waitUntilTold(fixture, store)
            _ = try store.declareHooks(["h"])
            fixture.server.route("/a") { _ in StubServer.response(500, "") }
            try await fixture.sync(mapping)
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(mapping)
            try await waitUntilTold(fixture, store)
            let runs = try store.read { try $0.changelog.runs(after: .start, limit: 100) }
            try #require(runs.count == 3)
            // Too soon after the first run, which has failed, and late enough after the good one.
            try fixture.store.execute(
                "UPDATE tributary_run SET failing_since = NULL WHERE id = \(runs[1].position.run)")
            var queue = try queue(store)
            let item = try #require(try queue.next(of: WatchedSources(["s"]), now: .now).item)
            #expect(item.event?.kind == .failing && item.event?.run == runs[1].position.run)
            #expect(item.event?.error?.contains("500") == true && item.event?.report?.outcome == .discarded)
        }
    }

    @Test(.onEachStore) func runsKnowWhatTheyWere() async throws {
        try await with("keep_bodies = 1") { (fixture, store, mapping) async throws in
            _ = try await fixture.replay(mapping)
            try await waitUntilTold(fixture, store)
            #expect(
                try store.read { try $0.changelog.runs(after: .start, limit: 9) }.map(\.report.kind) == [nil, .replay])
        }
    }
}
