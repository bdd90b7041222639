import FeedStores
import Logging
import FeedModel

/// The health of an engine: its scheduler runs, and its store can be written. Failing feeds do not affect it.
package final class Health: Sendable {
    private let scheduler: HealthProbe
    private let store: HealthProbe
    private let logger: Logger
    /// The checks that were last logged as failing.
    private let logged = Mutex<[String]>([])

    /// - Parameters:
    ///   - heartbeat: returns after a pass of the scheduler's loop.
    ///   - timeLimit: the timeout of a check.
    ///   - clock: the clock of the timeout.
    ///   - shown: removes secrets from a text.
    init(
        _ heartbeat: @escaping @Sendable () async -> Void, _ store: any MainStore, logger: Logger,
        timeLimit: Duration = .seconds(5), clock: any RunClock = SystemClock(),
        threads: any WorkThreads = SystemThreads(),
        shown: @escaping @Sendable (String) -> String
    ) {
        self.scheduler = HealthProbe("the scheduler", timeLimit: timeLimit, clock: clock) {
            await heartbeat()
            return .good
        }
        self.store = HealthProbe("the store \(store.name)", timeLimit: timeLimit, clock: clock) {
            do {
                // A thread of its own, because a hanging store blocks it.
                try await threads.run { try store.probe() }
                return .good
            } catch {
                return .failed(shown("\(error)"))
            }
        }
        self.logger = logger
    }

    /// Returns within the timeout.
    package func report() async -> HealthReport {
        async let scheduler = scheduler.finding()
        async let store = store.finding()
        let report = await HealthReport(scheduler: scheduler, store: store)
        log(report)
        return report
    }

    /// Logs each change once.
    private func log(_ report: HealthReport) {
        // Compares without the growing seconds of a hanging check.
        let kinds = [("scheduler", report.scheduler), ("store", report.store)].filter { $0.1 != .good }.map(\.0)
        let former = logged.withLock { logged in
            defer { logged = kinds }
            return logged
        }
        guard kinds != former else { return }
        if kinds.isEmpty {
            logger.notice("All health checks succeed again")
        } else {
            logger.error("A health check failed: \(report.problems.joined(separator: "; "))")
        }
    }
}

/// The health of an engine. Failing feeds do not affect it.
package struct HealthReport: Sendable, Equatable {
    package enum Finding: Sendable, Equatable {
        case good
        /// What is wrong, and what to do about it.
        case failed(String)
        /// The check timed out: the component hangs.
        case silent(String)

        package var problem: String? {
            switch self {
            case .good: nil
            case .failed(let text), .silent(let text): text
            }
        }
    }

    package var scheduler: Finding
    package var store: Finding

    package var isGood: Bool { problems.isEmpty }

    package var problems: [String] { [scheduler, store].compactMap(\.problem) }

    /// The failures, in words that name no file and no server.
    package var kinds: [String] {
        (scheduler == .good ? [] : ["the scheduler hangs"])
            + (store == .good ? [] : ["the store cannot be written"])
    }

    /// True if a part of this process hangs, and a restart may help. A restart does not help against a full or hanging
    /// disk, a read-only store, or an unreachable server.
    package var mayBeCuredByRestart: Bool {
        if case .silent = scheduler { true } else { false }
    }
}
