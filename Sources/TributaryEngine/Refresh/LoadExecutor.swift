import DequeModule
import FeedModel

/// A serial executor that holds one of the slots while its actor works. The slot is free while the actor waits, for
/// whatever it waits. Therefore, who holds a slot never waits for a host or a server.
///
/// Each job runs on a private queue, so that it blocks only that queue's thread.
final class LoadExecutor: SerialExecutor {
    private enum Phase {
        /// Without a slot and without a job.
        case idle
        /// With a job, and without a slot.
        case waiting
        /// With a slot, and with a job that runs or is about to.
        case working
        /// With a slot that is kept, and without a job.
        case keeping
    }

    private struct State {
        var phase = Phase.idle
        var jobs: Deque<UnownedJob> = []
        var keepsSlot = false
        /// The uptime at which the phase ``Phase/waiting`` began.
        var since = Duration.zero
        /// The time of all waits for slots that have ended.
        var waited = Duration.zero
    }

    private let queue: any WorkQueue
    private let slots: Slots
    /// The load's number in the order of the loads' beginnings.
    private let number: Int
    private let clock: any RunClock
    private let state = Mutex(State())

    init(label: String, slots: Slots, _ threads: any WorkThreads, _ clock: any RunClock) {
        queue = threads.queue(label)
        self.slots = slots
        number = slots.makeNumber()
        self.clock = clock
    }

    /// The time for which the actor had work and no slot. It does not count as time of an exchange.
    var timeWaited: Duration {
        let now = clock.uptime
        return state.withLock { $0.waited + ($0.phase == .waiting ? now - $0.since : .zero) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let now = clock.uptime
        let former = state.withLock { state in
            defer {
                state.jobs.append(job)
                if state.phase == .idle { state.since = now }
                state.phase = state.phase == .idle ? .waiting : state.phase == .keeping ? .working : state.phase
            }
            return state.phase
        }
        switch former {
        case .idle: if slots.acquire(number, orWait: { self.begin() }) { begin() }
        case .keeping: queue.add { self.runNext() }
        case .waiting, .working: break
        }
    }

    func checkIsolated() { queue.checkCurrent() }

    private func begin() {
        let now = clock.uptime
        state.withLock { state in
            state.waited += now - state.since
            state.phase = .working
        }
        queue.add { self.runNext() }
    }

    private func runNext() {
        state.withLock { $0.jobs.popFirst() }?.runSynchronously(on: asUnownedSerialExecutor())
        let next = state.withLock { state in
            if state.jobs.isEmpty { state.phase = state.keepsSlot ? .keeping : .idle }
            return state.phase
        }
        switch next {
        case .working: queue.add { self.runNext() }
        case .idle: slots.release()
        case .waiting, .keeping: break
        }
    }

    /// Keeps the slot while the actor waits, for work that another thread does for it. Call it on the actor.
    func keepingSlot<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        state.withLock { $0.keepsSlot = true }
        defer { state.withLock { $0.keepsSlot = false } }
        return try await body()
    }
}
