import Dispatch
import Synchronization

/// A serial executor on a private queue: a run's parsing and staging block only that queue's thread.
final class RunExecutor: SerialExecutor {
    private let queue: DispatchQueue
    private let nanosecondsWorked = Atomic<UInt64>(0)

    init(label: String) { queue = DispatchQueue(label: label) }

    /// The time its jobs have taken so far.
    var timeWorked: Duration { .nanoseconds(Int64(clamping: nanosecondsWorked.load(ordering: .relaxed))) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async {
            let began = DispatchTime.now().uptimeNanoseconds
            job.runSynchronously(on: executor)
            let worked = DispatchTime.now().uptimeNanoseconds &- began
            self.nanosecondsWorked.wrappingAdd(worked, ordering: .relaxed)
        }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
