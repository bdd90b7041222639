import FeedStore
import Foundation

/// Looks from time to time whether the store's files are in their place, and at once when a run has been discarded: it may
/// have been for that.
///
/// An actor on a queue of its own: a file system that is slow to answer blocks that queue's thread.
actor StoreWatch {
    static let interval = Duration.seconds(10)

    private let store: MainStore
    private let clock: any RunClock
    private let executor = RunExecutor(label: "tributary.store-watch")
    private let alarms: AsyncStream<Void>
    private let alarm: AsyncStream<Void>.Continuation

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ store: MainStore, clock: any RunClock) {
        self.store = store
        self.clock = clock
        (alarms, alarm) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    nonisolated func note(_ report: RunReport) {
        if report.outcome == .discarded { alarm.yield() }
    }

    /// Returns only by throwing: `StoreError` when a file is not where it was, `CancellationError`.
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
            try store.checkFiles()
            try await clock.sleep(for: Self.interval)
        }
    }

    /// Ends when it is cancelled.
    private func checkWhenAlarmed() async throws {
        for await _ in alarms { try store.checkFiles() }
    }
}
