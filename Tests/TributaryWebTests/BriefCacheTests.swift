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

    /// Who has been told of a change never sees how it was before.
    @Test func aValueIsNotOlderThanAskedFor() async throws {
        let (cache, maker) = (BriefCache<Int>(), Maker())
        #expect(try await cache.value(of: "a") { maker.make() } == 1)
        let began = ContinuousClock.now
        let change = ContinuousClock.now
        let values = try await withThrowingTaskGroup { group in
            for _ in 0..<5 { group.addTask { try await cache.value(of: "a", since: change) { maker.make() } } }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        // At most one a second.
        #expect(values == [2] && ContinuousClock.now - began > .milliseconds(500))
    }

    @Test func whatFailsIsMadeOnceMore() async throws {
        struct Oops: Error {}
        let cache = BriefCache<Int>()
        await #expect(throws: Oops.self) { try await cache.value(of: "a") { throw Oops() } }
        #expect(try await cache.value(of: "a", since: .now) { 7 } == 7)
    }
}
