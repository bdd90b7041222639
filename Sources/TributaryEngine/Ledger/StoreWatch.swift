import FeedModel
import FeedStores
import Foundation

/// Checks periodically, and after each discarded run, that the store's files are in place. When the store is idle,
/// copies the write-ahead log into its main file.
///
/// An actor on its own queue, because a slow file system blocks the queue's thread.
actor StoreWatch {
    private static let secondsBetweenChecks = 10.0

    private let store: any MainStore
    private let clock: any RunClock
    private let executor: RunExecutor
    /// A store is idle after this time without a commit.
    private static let idleAfter = Duration.seconds(1)
    /// The uptime at the end of the last run; nil if the main file has all commits.
    private let lastRun = Mutex<Duration?>(nil)
    private let timer: DueTimer

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ store: any MainStore, clock: any RunClock, executor: RunExecutor) {
        self.store = store
        self.clock = clock
        self.executor = executor
        timer = DueTimer(clock: clock)
    }

    nonisolated func note(_ report: RunReport) {
        lastRun.withLock { $0 = clock.uptime }
        if report.outcome.isFailure { timer.set(.distantPast) }
    }

    /// Runs until it throws: `StoreError` if a file was moved or replaced; `CancellationError`.
    func run() async throws {
        try await timer.run {
            try store.checkPlace()
            checkpointIfIdle()
            return clock.now() + Self.secondsBetweenChecks
        }
        throw CancellationError()
    }

    private func checkpointIfIdle() {
        let now = clock.uptime
        let isIdle = lastRun.withLock { lastRun in
            guard let last = lastRun, now - last >= Self.idleAfter else { return false }
            lastRun = nil
            return true
        }
        guard isIdle else { return }
        // A failure loses no data: each commit is in the write-ahead log, and the next pause retries.
        try? store.tidy()
    }
}
