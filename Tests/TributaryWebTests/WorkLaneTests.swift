import Foundation
import Synchronization
import Testing

@testable import TributaryWeb

/// Blocking work on threads of its own.
@Suite(.timeLimit(.minutes(10))) struct WorkLaneTests {
    /// Work that waits until it may end.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        let count = Mutex(0)

        func work() {
            count.withLock { $0 += 1 }
            semaphore.wait()
        }

        func open(_ times: Int) { for _ in 0..<times { semaphore.signal() } }

        func began(_ number: Int) async throws {
            while count.withLock({ $0 < number }) { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    private final class Order: Sendable {
        let numbers = Mutex<[Int]>([])

        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    private struct Oops: Error {}

    @Test func aFewAtATimeInTheirOrder() async throws {
        let lane = WorkLane("test", width: 2, mostWaiting: 100)
        let gate = Gate()
        let first = (0..<2).map { _ in Task { try await lane.run { gate.work() } } }
        try await gate.began(2)
        let order = Order()
        var others: [Task<Void, any Error>] = []
        for number in 0..<5 {
            others.append(Task { try await lane.run { order.add(number) } })
            while lane.waiting < number + 1 { try await Task.sleep(for: .milliseconds(2)) }
        }
        #expect(order.numbers.withLock(\.self).isEmpty)
        gate.open(1)
        for task in others { try await task.value }
        #expect(order.numbers.withLock(\.self) == [0, 1, 2, 3, 4])
        gate.open(1)
        for task in first { try await task.value }
        #expect(try await lane.run { 7 } == 7)
        await #expect(throws: Oops.self) { try await lane.run { throw Oops() } }
    }

    @Test func whoWaitsIsCancelledRefusedOrTurnedAway() async throws {
        let lane = WorkLane("test", width: 1, mostWaiting: 2)
        let gate = Gate()
        let running = Task { try await lane.run { gate.work() } }
        try await gate.began(1)
        let cancelled = Task { try await lane.run { gate.work() } }
        while lane.waiting < 1 { try await Task.sleep(for: .milliseconds(2)) }
        let closed = Task { try await lane.run { gate.work() } }
        while lane.waiting < 2 { try await Task.sleep(for: .milliseconds(2)) }
        await #expect(throws: WorkLane.Full.self) { try await lane.run { gate.work() } }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        lane.close()
        // What runs goes on, and nobody waits for it: a lock may take its time.
        for task in [running, closed] { await #expect(throws: WorkLane.Closed.self) { try await task.value } }
        await #expect(throws: WorkLane.Closed.self) { try await lane.run { gate.work() } }
        gate.open(1)
        #expect(gate.count.withLock(\.self) == 1)
    }
}
