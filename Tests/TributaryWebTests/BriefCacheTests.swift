import Synchronization
import Testing

@testable import TributaryWeb

/// Values that many look at.
@Suite(.timeLimit(.minutes(10))) struct BriefCacheTests {
    private final class Maker: Sendable {
        let count = Mutex(0)

        @Sendable func make() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }

    @Test func manyAtOnceCostAsMuchAsOne() async throws {
        let (cache, maker) = (BriefCache<Int>(), Maker())
        let values = try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { try await cache.value(of: "a") { maker.make() } } }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(values == [1])
        #expect(try await cache.value(of: "b") { maker.make() } == 2)
    }

    /// A clock that moves on only where somebody sleeps.
    private final class Clock: Sendable {
        let time = Mutex(ContinuousClock.now)

        @Sendable func now() -> ContinuousClock.Instant { time.withLock { $0 } }

        @Sendable func sleep(_ duration: Duration) async throws {
            time.withLock { $0 += duration }
            await Task.yield()
        }
    }

    /// Whoever was notified of a change never sees the value from before it.
    @Test func aValueIsNotOlderThanAskedFor() async throws {
        let (clock, maker) = (Clock(), Maker())
        let cache = BriefCache<Int>(now: clock.now, sleep: clock.sleep)
        let start = clock.now()
        #expect(try await cache.value(of: "a") { maker.make() } == 1)
        let change = start + .milliseconds(400)
        clock.time.withLock { $0 = change }
        #expect(try await cache.value(of: "a", since: start) { maker.make() } == 1)
        let values = try await withThrowingTaskGroup { group in
            for _ in 0..<5 { group.addTask { try await cache.value(of: "a", since: change) { maker.make() } } }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        // At most one a second.
        #expect(values == [2] && clock.now() - start >= .seconds(1))
    }

    @Test func whatFailsIsMadeOnceMore() async throws {
        struct Oops: Error {}
        let cache = BriefCache<Int>()
        await #expect(throws: Oops.self) { try await cache.value(of: "a") { throw Oops() } }
        #expect(try await cache.value(of: "a", since: .now) { 7 } == 7)
    }
}
