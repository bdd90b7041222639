import Dispatch
import Foundation
import Synchronization

/// A serial executor on a private queue: a refresh's parsing and staging block only that queue's thread.
final class RunExecutor: SerialExecutor {
    private let queue: DispatchQueue
    private let nanosecondsWorked = Atomic<UInt64>(0)
    /// When the running job began; 0 where none is running.
    private let began = Atomic<UInt64>(0)

    init(label: String) { queue = DispatchQueue(label: label) }

    /// The time its jobs have taken so far, with the one that is running.
    var timeWorked: Duration {
        let began = began.load(ordering: .relaxed)
        let running = began == 0 ? 0 : DispatchTime.now().uptimeNanoseconds &- began
        return .nanoseconds(Int64(clamping: nanosecondsWorked.load(ordering: .relaxed) &+ running))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async {
            let began = DispatchTime.now().uptimeNanoseconds
            self.began.store(began, ordering: .relaxed)
            job.runSynchronously(on: executor)
            self.began.store(0, ordering: .relaxed)
            let worked = DispatchTime.now().uptimeNanoseconds &- began
            self.nanosecondsWorked.wrappingAdd(worked, ordering: .relaxed)
        }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// The executor of a service's scheduler and of its runs, as long as these parse nothing: one queue, so that a run which
/// finds no change passes through few threads. Its jobs take microseconds. They may read a store that is a file.
final class EngineExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "tributary.engine")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}

/// Runs a body that may block for long on a thread of its own.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
