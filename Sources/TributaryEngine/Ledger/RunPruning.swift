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
    /// The time for which the histories of a source's tables are kept, where that is longer.
    private let longer: [String: Duration]
    private let executor: RunExecutor
    private let timer: DueTimer
    /// True if the last pass failed.
    private var isFailing = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - history: the time for which runs are kept.
    ///   - sources: the declared sources, which may keep before-images for longer.
    init(
        _ store: any MainStore, history: Duration, sources: [SourceDeclaration], clock: any RunClock,
        executor: RunExecutor, logger: Logger
    ) {
        self.store = store
        self.clock = clock
        self.logger = logger
        self.executor = executor
        self.history = history.seconds
        longer = sources.reduce(into: [:]) { $0[$1.name] = $1.historyKept }
        timer = DueTimer(clock: clock)
    }

    /// Runs until the task is cancelled.
    func run() async {
        await timer.run {
            pass()
            return clock.now() + Self.secondsBetweenPasses
        }
    }

    /// Deletes old runs, a bounded number in each transaction, so that other transactions can run in between.
    ///
    /// - Parameter most: the most transactions.
    func pass(transactions most: Int = .max) {
        let date = clock.now() - history
        do {
            let kept = try keptHistories()
            var transactions = 1
            while !Task.isCancelled, try store.forgetRuns(before: date, keeping: kept), transactions < most {
                transactions += 1
            }
            isFailing = false
        } catch {
            if !isFailing, !Task.isCancelled {
                logger.warning("Old runs cannot be deleted", metadata: ["error": "\(error)"])
            }
            isFailing = true
        }
    }

    /// Returns the tables whose histories outlive the runs, in lower case, with the time before which entries are old. Of
    /// several sources that write a table, the longest time counts: a version lasts from one source's change to another's.
    private func keptHistories() throws -> [String: Date] {
        guard !longer.isEmpty else { return [:] }
        return try store.read { try $0.requests.writers() }.reduce(into: [:]) { kept, table in
            guard let time = table.value.compactMap({ longer[$0] }).max() else { return }
            let date = clock.now() - time.seconds
            kept[table.key.lowercased()] = min(date, kept[table.key.lowercased()] ?? date)
        }
    }
}
