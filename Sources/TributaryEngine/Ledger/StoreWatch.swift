import FeedModel
import FeedStores
import Foundation

/// Checks periodically, and after each discarded run, that the store's files are in place. When the store is idle,
/// copies the write-ahead log into its main file.
///
/// An actor on its own queue, because a slow file system blocks the queue's thread.
actor StoreWatch {
    static let interval = Duration.seconds(10)

    private let store: any MainStore
    private let clock: any RunClock
    private let executor: RunExecutor
    /// A store is idle after this time without a commit.
    private static let idleAfter = Duration.seconds(1)
    /// The uptime at the end of the last run; nil if the main file has all commits.
    private let lastRun = Mutex<Duration?>(nil)
    private let alarms: AsyncStream<Void>
    private let alarm: AsyncStream<Void>.Continuation

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ store: any MainStore, clock: any RunClock, executor: RunExecutor) {
        self.store = store
        self.clock = clock
        self.executor = executor
        (alarms, alarm) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    nonisolated func note(_ report: RunReport) {
        lastRun.withLock { $0 = clock.uptime }
        if report.outcome.isFailure { alarm.yield() }
    }

    /// Runs until it throws: `StoreError` if a file was moved or replaced; `CancellationError`.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.checkRegularly() }
            group.addTask { try await self.checkWhenAlarmed() }
            defer { group.cancelAll() }
            try await group.next()
        }
        throw CancellationError()
    }

    private func checkRegularly() async throws {
        while true {
            try store.checkPlace()
            checkpointIfIdle()
            try await clock.sleep(for: Self.interval)
        }
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

    /// Runs until it is cancelled.
    private func checkWhenAlarmed() async throws {
        for await _ in alarms { try store.checkPlace() }
    }
}
