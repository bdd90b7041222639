import Dispatch
package import Foundation

/// The machine's clock.
package struct SystemClock: RunClock {
    private static let start = ContinuousClock.now

    package init() {}

    package var uptime: Duration { ContinuousClock.now - Self.start }

    package func now() -> Date { Date() }

    package func sleep(for duration: Duration) async throws { try await EngineLoop.sleep(until: .now + duration) }

    package func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        EngineLoop.alarm(at: .now + duration, action)
    }
}

/// The machine's random numbers.
package struct SystemRandom: RandomSource {
    package init() {}

    package func next() -> UInt64 { .random(in: 0 ... .max) }
}

/// The machine's threads. A queue has a thread while it has work.
package struct SystemThreads: WorkThreads {
    private struct Queue: WorkQueue {
        let queue: DispatchQueue

        func add(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

        func checkCurrent() { dispatchPrecondition(condition: .onQueue(queue)) }
    }

    package init() {}

    package func engineQueue() -> any WorkQueue { EngineLoop() }

    package func queue(_ label: String) -> any WorkQueue { Queue(queue: DispatchQueue(label: label)) }

    package func detach(_ work: @escaping @Sendable () -> Void) { Thread.detachNewThread(work) }
}
