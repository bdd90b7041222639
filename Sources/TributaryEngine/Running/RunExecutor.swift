import Dispatch
import Synchronization

/// A serial executor over a private queue: a run's parsing and staging block its thread and nobody else's.
final class RunExecutor: SerialExecutor {
    private let queue: DispatchQueue
    private let nanosecondsWorked = Atomic<UInt64>(0)

    init(label: String) { queue = DispatchQueue(label: label) }

    /// How long its jobs have taken so far.
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
