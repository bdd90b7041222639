import FeedFetching

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
