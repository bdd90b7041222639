import FeedFetching
import FeedModel
import Foundation
import HeapModule
import NIOCore
import NIOPosix

/// A thread for jobs, their sleeps and the connections of their requests. A job that adds another job, sleeps or sends a
/// request wakes no other thread.
///
/// Its jobs take microseconds, also where they read a store's file. It ends with its last reference.
final class EngineLoop: WorkQueue, ConnectionLoop {
    /// The timers of the current thread's loop; nil on other threads.
    private static let timersOfThread = ThreadSpecificVariable<Timers>()
    /// The loop for sleeps of other threads.
    private static let shared = EngineLoop()

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let loop: any EventLoop
    private let timers: Timers

    init() {
        let loop = group.next()
        let timers = Timers(loop)
        self.loop = loop
        self.timers = timers
        loop.execute { Self.timersOfThread.currentValue = timers }
    }

    deinit {
        group.shutdownGracefully { _ in }
    }

    var loops: any EventLoopGroup { group }

    func add(_ work: @escaping @Sendable () -> Void) { loop.execute(work) }

    func checkCurrent() { loop.preconditionInEventLoop() }

    /// Sleeps until a time, on the caller's loop.
    ///
    /// - Throws: `CancellationError`.
    static func sleep(until end: ContinuousClock.Instant) async throws {
        try await nearestTimers.sleep(until: end)
    }

    private static var nearestTimers: Timers { timersOfThread.currentValue ?? shared.timers }
}

/// Sleeping tasks, woken by one timer of a loop.
///
/// Most sleeps are timeouts that are cancelled early. A cancelled `Task.sleep` still wakes a thread at its end; a
/// cancelled sleep here does not.
final class Timers: Sendable {
    private struct Sleeper: Comparable {
        var end: ContinuousClock.Instant
        var id: UInt64

        static func < (one: Sleeper, other: Sleeper) -> Bool { (one.end, one.id) < (other.end, other.id) }
    }

    private struct State {
        /// Includes cancelled sleepers, until their time, or until they outnumber the others.
        var sleepers = Heap<Sleeper>()
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var lastID: UInt64 = 0
        /// The time of the timer; nil if it is not set.
        var alarm: (time: ContinuousClock.Instant, task: Scheduled<Void>)?

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

    private let loop: any EventLoop
    private let state = Mutex(State())

    init(_ loop: any EventLoop) { self.loop = loop }

    /// - Throws: `CancellationError`.
    func sleep(until end: ContinuousClock.Instant) async throws {
        let id = state.withLock { $0.makeID() }
        let hasEnded = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.waiting[id] = continuation
                    state.sleepers.insert(Sleeper(end: end, id: id))
                    if state.alarm.map({ end < $0.time }) ?? true { set(end, &state) }
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
        state.alarm?.task.cancel()
        let left = max(.zero, ContinuousClock.now.duration(to: end))
        state.alarm = (end, loop.scheduleTask(in: TimeAmount(left)) { [weak self] in self?.wake() })
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
