import Synchronization

/// A serial executor on a private queue, so that a refresh's parsing and staging block only that queue's thread.
final class RunExecutor: SerialExecutor {
    private let queue: any WorkQueue
    private let clock: any RunClock
    private let nanosecondsWorked = Atomic<Int64>(0)
    /// The uptime at which the current job began, in nanoseconds; negative without one.
    private let began = Atomic<Int64>(-1)

    init(label: String, _ threads: any WorkThreads, _ clock: any RunClock) {
        queue = threads.queue(label)
        self.clock = clock
    }

    /// The total time of its jobs, including the current one.
    var timeWorked: Duration {
        let began = began.load(ordering: .relaxed)
        let running = began < 0 ? 0 : nanoseconds - began
        return .nanoseconds(nanosecondsWorked.load(ordering: .relaxed) + running)
    }

    private var nanoseconds: Int64 {
        let (seconds, attoseconds) = clock.uptime.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.add {
            let began = self.nanoseconds
            self.began.store(began, ordering: .relaxed)
            job.runSynchronously(on: executor)
            self.began.store(-1, ordering: .relaxed)
            self.nanosecondsWorked.wrappingAdd(self.nanoseconds - began, ordering: .relaxed)
        }
    }

    func checkIsolated() { queue.checkCurrent() }
}

/// The executor of a service's scheduler and of its runs before they parse a body. It has one thread, so that an
/// unchanged run changes threads rarely. Its jobs take microseconds, and may read a store's file.
final class EngineExecutor: TaskExecutor {
    private let queue: any WorkQueue

    init(_ threads: any WorkThreads) { queue = threads.engineQueue() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        queue.add { job.runSynchronously(on: executor) }
    }
}
