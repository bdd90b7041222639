import CJobHook
import DequeModule
import FeedModel
import Foundation
import HeapModule
import TestSupport

/// One thread that does all work of all simulated processes, piece by piece, in an order drawn from a seed. Its time
/// passes only when there is nothing to do: then it is that of the next timer.
///
/// Everything about it happens on that thread. A job that comes from another one is a leak of real time, and ends the
/// process.
package final class EventLoop: @unchecked Sendable {
    /// A simulated process; 0 is the simulator itself.
    package typealias Process = Int

    private enum Piece {
        case job(UnsafeMutableRawPointer)
        case block(() -> Void)
    }

    private enum Ready {
        case piece(Process, Piece)
        /// A queue with work, of which only the first piece can be next.
        case lane(Int)
    }

    private struct Lane {
        var process: Process
        var pieces: Deque<Piece> = []
    }

    private struct Timer: Comparable {
        var end: Duration
        /// Drawn, so that timers of the same time end in any order.
        var tie: UInt64
        var id: Int

        static func < (one: Timer, other: Timer) -> Bool {
            (one.end, one.tie, one.id) < (other.end, other.tie, other.id)
        }
    }

    nonisolated(unsafe) private static var current: EventLoop?
    nonisolated(unsafe) private static var isHooked = false

    /// The time since the simulation began.
    package private(set) var now = Duration.zero
    /// The process whose work is being done.
    package private(set) var process = 0
    /// The process that has done the last piece of work.
    private(set) var last = 0
    /// The queue whose work is being done.
    private(set) var lane: Int?
    package private(set) var steps = 0
    package private(set) var trace: Trace
    private var random: SplitMix64
    private var ready: [Ready] = []
    private var lanes: [Lane] = []
    private var timers = Heap<Timer>()
    private var actions: [Int: (process: Process, action: () -> Void)] = [:]
    private var lastTimer = 0
    private var dead: Set<Process> = []
    /// What processes that do nothing at present have to do.
    private var paused: [Process: [Ready]] = [:]
    /// What dead processes would have done. It is kept, as a continuation that is dropped complains.
    private var never: [Any] = []
    private let thread = pthread_self()

    package init(seed: UInt64, show: ((String) -> Void)? = nil) {
        random = SplitMix64(seed: seed)
        trace = Trace(show: show)
    }

    /// Makes this the loop to which the runtime's jobs come, until ``leave()``.
    package func enter() {
        Self.current = self
        guard !Self.isHooked else { return }
        Self.isHooked = true
        tributary_take_jobs { job in
            // What a simulation that is over has left is not done any more.
            guard let loop = EventLoop.current else { return 1 }
            loop.checkThread()
            loop.ready(.piece(loop.process, .job(job)), loop.process)
            return 1
        }
    }

    package func leave() { Self.current = nil }

    private func checkThread() {
        guard pthread_equal(thread, pthread_self()) == 0 else { return }
        fatalError("work of process \(process) comes from another thread, which no seed repeats")
    }

    // MARK: - Work

    func makeLane(_ process: Process) -> Int {
        lanes.append(Lane(process: process))
        return lanes.count - 1
    }

    func add(_ work: @escaping () -> Void, lane: Int) {
        checkThread()
        guard !dead.contains(lanes[lane].process) else { return never.append(work) }
        if lanes[lane].pieces.isEmpty { ready(.lane(lane), lanes[lane].process) }
        lanes[lane].pieces.append(.block(work))
    }

    func add(_ work: @escaping () -> Void, _ process: Process) {
        checkThread()
        ready(.piece(process, .block(work)), process)
    }

    private func ready(_ entry: Ready, _ process: Process) {
        if paused[process] == nil { ready.append(entry) } else { paused[process]?.append(entry) }
    }

    /// Does something as a process.
    package func run<Value>(as process: Process, _ body: () throws -> Value) rethrows -> Value {
        let former = self.process
        self.process = process
        defer { self.process = former }
        return try body()
    }

    /// Does the next piece of work, or ends the next timer.
    ///
    /// - Returns: false where nothing is left to do.
    package func step() -> Bool {
        if !ready.isEmpty {
            takeNext()
            return true
        }
        while let timer = timers.popMin() {
            guard let (process, action) = actions.removeValue(forKey: timer.id) else { continue }
            now = max(now, timer.end)
            steps += 1
            trace.add(UInt64(truncatingIfNeeded: timer.id))
            if paused[process] == nil {
                last = process
                run(as: process, action)
            } else {
                ready(.piece(process, .block(action)), process)
            }
            return true
        }
        return false
    }

    private func takeNext() {
        let count = ready.count
        let index = Int(random.next() % UInt64(count))
        steps += 1
        trace.add(UInt64(count) << 32 | UInt64(index))
        ready.swapAt(index, count - 1)
        switch ready.removeLast() {
        case .piece(let process, let piece):
            perform(piece, as: process)
        case .lane(let number):
            let piece = lanes[number].pieces.removeFirst()
            if !lanes[number].pieces.isEmpty { ready.append(.lane(number)) }
            lane = number
            perform(piece, as: lanes[number].process)
            lane = nil
        }
    }

    private func perform(_ piece: Piece, as process: Process) {
        trace.add(UInt64(process))
        last = process
        run(as: process) {
            switch piece {
            case .job(let job): tributary_run_job(job)
            case .block(let block): block()
            }
        }
    }

    // MARK: - Time

    /// Has something done later, as the current process.
    ///
    /// - Returns: the number by which it can be cancelled.
    @discardableResult
    package func after(_ time: Duration, _ action: @escaping () -> Void) -> Int {
        checkThread()
        lastTimer += 1
        timers.insert(Timer(end: now + max(.zero, time), tie: random.next(), id: lastTimer))
        actions[lastTimer] = (process, action)
        return lastTimer
    }

    package func cancel(_ timer: Int) { actions[timer] = nil }

    /// - Throws: `CancellationError`.
    package func sleep(for time: Duration) async throws {
        let sleeper = Sleeper()
        let hasEnded = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
                guard !Task.isCancelled else { return continuation.resume(returning: false) }
                sleeper.continuation = continuation
                sleeper.timer = after(time) { sleeper.end(true) }
            }
        } onCancel: {
            if let timer = sleeper.timer { cancel(timer) }
            sleeper.end(false)
        }
        guard hasEnded else { throw CancellationError() }
    }

    private final class Sleeper: @unchecked Sendable {
        var continuation: UnsafeContinuation<Bool, Never>?
        var timer: Int?

        func end(_ hasEnded: Bool) {
            let waiting = continuation
            continuation = nil
            waiting?.resume(returning: hasEnded)
        }
    }

    // MARK: - Processes

    /// Ends a process as SIGKILL does: nothing of it is done any more.
    package func kill(_ process: Process) {
        dead.insert(process)
        never += (paused.removeValue(forKey: process) ?? []) + take(process)
        for index in lanes.indices where lanes[index].process == process && !lanes[index].pieces.isEmpty {
            never.append(lanes[index].pieces)
            lanes[index].pieces = []
        }
        for (id, entry) in actions where entry.process == process {
            never.append(entry.action)
            actions[id] = nil
        }
    }

    /// Keeps a process from doing anything until it is resumed, as SIGSTOP does. Time passes for it.
    package func pause(_ process: Process) { if paused[process] == nil { paused[process] = take(process) } }

    package func resume(_ process: Process) { ready += paused.removeValue(forKey: process) ?? [] }

    func isPaused(_ process: Process) -> Bool { paused[process] != nil }

    /// Takes what a process could do now.
    private func take(_ process: Process) -> [Ready] {
        func isOf(_ entry: Ready) -> Bool {
            switch entry {
            case .piece(let other, _): other == process
            case .lane(let number): lanes[number].process == process
            }
        }
        defer { ready.removeAll(where: isOf) }
        return ready.filter(isOf)
    }

    /// Notes an event for people.
    package func note(_ text: @autoclosure () -> String) { trace.add(now, process, text) }
}
