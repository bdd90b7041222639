import Foundation
import FeedStores
import Synchronization
import Testing

/// Writes that are committed together, without a store.
struct GroupCommitTests {
    private struct Fault: Error {}

    /// Makes a hundred writes at once; returns those that failed.
    private func write(
        concernsAll: Bool = false, _ transaction: @escaping @Sendable ([Int]) throws -> Void
    ) async -> [Int] {
        let group = GroupCommit<Int>()
        return await withTaskGroup(of: Int?.self) { tasks in
            for number in 0..<100 {
                tasks.addTask {
                    do {
                        try await group.write(number) {
                            Thread.detachNewThread {
                                while group.commit(transaction, concernsAll: { _ in concernsAll }) {}
                            }
                        }
                        return nil
                    } catch {
                        return number
                    }
                }
            }
            return await tasks.reduce(into: []) { failed, number in failed += number.map { [$0] } ?? [] }.sorted()
        }
    }

    @Test func oneGroupIsWrittenAfterTheOther() async {
        let written = Mutex<[Int]>([])
        let isWriting = Mutex(false)
        let failed = await write { numbers in
            let overlaps = isWriting.withLock { isWriting in
                defer { isWriting = true }
                return isWriting
            }
            #expect(!overlaps)
            written.withLock { $0 += numbers }
            isWriting.withLock { $0 = false }
        }
        #expect(failed.isEmpty)
        #expect(written.withLock { $0.sorted() } == Array(0..<100))
    }

    @Test func aWriteThatFailsFailsAlone() async {
        let written = Mutex<[Int]>([])
        let failed = await write { numbers in
            if numbers.contains(13) { throw Fault() }
            written.withLock { $0 += numbers }
        }
        #expect(failed == [13])
        #expect(written.withLock { $0.sorted() } == Array(0..<100).filter { $0 != 13 })
    }

    @Test func anErrorThatConcernsAllIsNotTriedAgain() async {
        let attempts = Mutex<[Int]>([])
        let failed = await write(concernsAll: true) { numbers in
            attempts.withLock { $0 += numbers }
            throw Fault()
        }
        #expect(failed == Array(0..<100))
        #expect(attempts.withLock { $0.sorted() } == Array(0..<100))
    }
}
