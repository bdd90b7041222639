import Dispatch
import FeedModel
package import Foundation
import HeapModule
import Locking

/// The machine's clock.
package struct SystemClock: RunClock {
    private static let start = ContinuousClock.now

    package init() {}

    package var uptime: Duration { ContinuousClock.now - Self.start }

    package func now() -> Date { Date() }

    package func sleep(for duration: Duration) async throws { try await Timers.shared.sleep(until: .now + duration) }

    package func sleep(until date: Date) async throws {
        try await sleep(for: .seconds(max(date.timeIntervalSinceNow, 0)))
    }
}

/// The machine's random numbers.
package struct SystemRandom: RandomSource {
    package init() {}

    package func next() -> UInt64 { .random(in: 0 ... .max) }
}

/// The machine's threads: a queue has one while it has work.
package struct SystemThreads: WorkThreads {
    private struct Queue: WorkQueue {
        let queue: DispatchQueue

        func add(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

        func checkCurrent() { dispatchPrecondition(condition: .onQueue(queue)) }
    }

    package init() {}

    package func queue(_ label: String) -> any WorkQueue { Queue(queue: DispatchQueue(label: label)) }

    package func detach(_ work: @escaping @Sendable () -> Void) { Thread.detachNewThread(work) }
}

/// Sleeping tasks, woken by one timer of the system.
///
/// Most sleeps are time limits that are cancelled long before they end. A cancelled `Task.sleep` still wakes a thread when
/// its time has come; here it costs nothing.
final class Timers: Sendable {
    private struct Sleeper: Comparable {
        var end: ContinuousClock.Instant
        var id: UInt64

        static func < (one: Sleeper, other: Sleeper) -> Bool { (one.end, one.id) < (other.end, other.id) }
    }

    private struct State {
        /// With those that were cancelled, until they come up or are more than the others.
        var sleepers = Heap<Sleeper>()
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var lastID: UInt64 = 0
        /// The time for which the timer is set; nil where it is not.
        var alarm: ContinuousClock.Instant?

        mutating func makeID() -> UInt64 {
            lastID += 1
            return lastID
        }

        /// Returns the sleepers whose time has come.
        mutating func takeDue(_ now: ContinuousClock.Instant) -> [CheckedContinuation<Bool, Never>] {
            var due: [CheckedContinuation<Bool, Never>] = []
            while let first = sleepers.min, first.end <= now || waiting[first.id] == nil {
                sleepers.removeMin()
                if let continuation = waiting.removeValue(forKey: first.id) { due.append(continuation) }
            }
            return due
        }

        mutating func dropCancelled() {
            guard sleepers.count > 2 * waiting.count + 64 else { return }
            sleepers = Heap(sleepers.unordered.filter { waiting[$0.id] != nil })
        }
    }

    static let shared = Timers()

    private let state = Mutex(State())
    // Dispatch's own calls may come from any thread.
    nonisolated(unsafe) private let timer: any DispatchSourceTimer

    init() {
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "tributary.timers"))
        timer.setEventHandler { [weak self] in self?.wake() }
        timer.activate()
    }

    /// - Throws: `CancellationError`.
    func sleep(until end: ContinuousClock.Instant) async throws {
        let id = state.withLock { $0.makeID() }
        let hasEnded = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.waiting[id] = continuation
                    state.sleepers.insert(Sleeper(end: end, id: id))
                    if state.alarm.map({ end < $0 }) ?? true { set(end, &state) }
                }
                // The handler may have run before the sleep began.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
        guard hasEnded else { throw CancellationError() }
    }

    private func cancel(_ id: UInt64) {
        let continuation = state.withLock { state in
            defer { state.dropCancelled() }
            return state.waiting.removeValue(forKey: id)
        }
        continuation?.resume(returning: false)
    }

    private func set(_ end: ContinuousClock.Instant, _ state: inout State) {
        state.alarm = end
        let left = max(.zero, ContinuousClock.now.duration(to: end))
        timer.schedule(deadline: .now() + left.seconds, leeway: .milliseconds(1))
    }

    private func wake() {
        let due = state.withLock { state in
            let due = state.takeDue(.now)
            state.alarm = nil
            if let next = state.sleepers.min { set(next.end, &state) }
            return due
        }
        for continuation in due { continuation.resume(returning: true) }
    }
}
