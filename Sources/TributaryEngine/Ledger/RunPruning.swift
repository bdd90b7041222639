import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import Logging

/// Deletes runs that are older than `[store] history`, with their changes and history, once a minute.
///
/// An actor on its own queue, because a slow store blocks the queue's thread.
actor RunPruning {
    private static let secondsBetweenPasses = 60.0

    private let store: any MainStore
    private let clock: any RunClock
    private let logger: Logger
    /// The time for which runs are kept, in seconds.
    private let history: Double
    private let executor: RunExecutor
    private let timer: DueTimer
    /// True if the last pass failed.
    private var isFailing = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter history: the time for which runs are kept.
    init(
        _ store: any MainStore, history: Duration, clock: any RunClock, executor: RunExecutor, logger: Logger
    ) {
        self.store = store
        self.clock = clock
        self.logger = logger
        self.executor = executor
        self.history = history.seconds
        timer = DueTimer(clock: clock)
    }

    /// Runs until the task is cancelled.
    func run() async {
        timer.set(.distantPast)
        for await _ in timer.ticks {
            if Task.isCancelled { break }
            pass()
            timer.set(clock.now() + Self.secondsBetweenPasses)
        }
        timer.set(nil)
    }

    /// Deletes old runs, a bounded number in each transaction, so that other transactions can run in between.
    ///
    /// - Parameter most: the most transactions.
    func pass(transactions most: Int = .max) {
        let date = clock.now() - history
        do {
            var transactions = 1
            while !Task.isCancelled, try store.forgetRuns(before: date), transactions < most { transactions += 1 }
            isFailing = false
        } catch {
            if !isFailing, !Task.isCancelled {
                logger.warning("Old runs cannot be deleted", metadata: ["error": "\(error)"])
            }
            isFailing = true
        }
    }
}
