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

    /// Does an action at a time, on the caller's loop.
    static func alarm(at end: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> Alarm {
        nearestTimers.alarm(at: end, action)
    }

    private static var nearestTimers: Timers { timersOfThread.currentValue ?? shared.timers }
}

/// Actions at later times, done by one timer of a loop.
///
/// Most are timeouts that are cancelled early. A cancelled `Task.sleep` still wakes a thread at its end; a cancelled action
/// here does not.
final class Timers: Sendable {
    /// Called with true at its time, or with false when it is cancelled.
    private typealias Action = @Sendable (_ isDue: Bool) -> Void

    private struct Entry: Comparable {
        var end: ContinuousClock.Instant
        var id: UInt64

        static func < (one: Entry, other: Entry) -> Bool { (one.end, one.id) < (other.end, other.id) }
    }

    private struct State {
        /// Includes cancelled actions, until their time, or until they outnumber the others.
        var entries = Heap<Entry>()
        var actions: [UInt64: Action] = [:]
        var lastID: UInt64 = 0
        /// The time of the timer; nil if it is not set.
        var alarm: (time: ContinuousClock.Instant, task: Scheduled<Void>)?

        mutating func makeID() -> UInt64 {
            lastID += 1
            return lastID
        }

        /// Returns the actions whose time has come.
        mutating func takeDue(_ now: ContinuousClock.Instant) -> [Action] {
            var due: [Action] = []
            while let first = entries.min, first.end <= now || actions[first.id] == nil {
                entries.removeMin()
                if let action = actions.removeValue(forKey: first.id) { due.append(action) }
            }
            return due
        }

        mutating func dropCancelled() {
            guard entries.count > 2 * actions.count + 64 else { return }
            entries = Heap(entries.unordered.filter { actions[$0.id] != nil })
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
                add(id, at: end) { continuation.resume(returning: $0) }
                // The handler may have run before the sleep began.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
        guard hasEnded else { throw CancellationError() }
    }

    func alarm(at end: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> Alarm {
        let id = state.withLock { $0.makeID() }
        add(id, at: end) { if $0 { action() } }
        return Alarm { self.cancel(id) }
    }

    private func add(_ id: UInt64, at end: ContinuousClock.Instant, _ action: @escaping Action) {
        state.withLock { state in
            state.actions[id] = action
            state.entries.insert(Entry(end: end, id: id))
            if state.alarm.map({ end < $0.time }) ?? true { set(end, &state) }
        }
    }

    private func cancel(_ id: UInt64) {
        let action = state.withLock { state in
            defer { state.dropCancelled() }
            return state.actions.removeValue(forKey: id)
        }
        action?(false)
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
            if let next = state.entries.min { set(next.end, &state) }
            return due
        }
        for action in due { action(true) }
    }
}

/// A serial executor on a private queue, so that an actor's blocking work blocks only that queue's thread.
final class RunExecutor: SerialExecutor {
    private let queue: any WorkQueue

    init(label: String, _ threads: any WorkThreads) { queue = threads.queue(label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.add { job.runSynchronously(on: executor) }
    }

    func checkIsolated() { queue.checkCurrent() }
}

/// The executor of a service's scheduler and of its runs before they parse a body. It has one thread, so that an
/// unchanged run changes threads rarely. Its jobs take microseconds, and may read a store's file.
final class EngineExecutor: TaskExecutor {
    private let queue: any WorkQueue

    init(_ threads: any WorkThreads) { queue = threads.engineQueue() }

    /// The loop of its thread, which serves the connections of requests, too: a poll then wakes no other thread.
    var loop: (any ConnectionLoop)? { queue as? any ConnectionLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        queue.add { job.runSynchronously(on: executor) }
    }
}
