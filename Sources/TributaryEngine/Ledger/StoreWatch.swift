import FeedModel
import FeedStores
import Foundation
import Locking

/// Checks from time to time that the store's files are in place, and at once when a run was discarded, as missing files
/// may be the reason. When the store is idle, moves all that was committed into its main file.
///
/// An actor on a queue of its own: a file system that is slow to answer blocks that queue's thread.
actor StoreWatch {
    static let interval = Duration.seconds(10)

    private let store: any MainStore
    private let clock: any RunClock
    private let executor: RunExecutor
    /// A store to which nothing has been committed for this long is idle.
    private static let idleAfter = Duration.seconds(1)
    /// The clock's uptime at the end of the last run; nil if the store's main file has all that was committed.
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

    /// Runs until it throws: `StoreError` when a file is not where it was, or `CancellationError`.
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
        // A failure loses nothing: each commit is in the WAL, and the next pause will come.
        try? store.tidy()
    }

    /// Runs until it is cancelled.
    private func checkWhenAlarmed() async throws {
        for await _ in alarms { try store.checkPlace() }
    }
}
