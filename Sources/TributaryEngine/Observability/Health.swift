import FeedModel
import FeedStores
import Logging

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

/// Runs a check of a component, one at a time. Concurrent callers share its result, which is valid for a second.
final class HealthProbe: Sendable {
    private struct State {
        /// The uptime at which the current check began; nil without one.
        var asked: Duration?
        var answer: (finding: HealthReport.Finding, at: Duration)?
        var waiting: [Int: CheckedContinuation<HealthReport.Finding?, Never>] = [:]
        var nextID = 0
    }

    private let name: String
    private let timeLimit: Duration
    private let freshness: Duration
    private let clock: any RunClock
    private let ask: @Sendable () async -> HealthReport.Finding
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: the component's name in reports.
    ///   - timeLimit: the timeout of a check.
    init(
        _ name: String, timeLimit: Duration = .seconds(5), freshness: Duration = .seconds(1),
        clock: any RunClock = SystemClock(), _ ask: @escaping @Sendable () async -> HealthReport.Finding
    ) {
        self.name = name
        self.timeLimit = timeLimit
        self.freshness = freshness
        self.clock = clock
        self.ask = ask
    }

    /// Returns within the timeout, counted from the start of the check.
    func finding() async -> HealthReport.Finding {
        let now = clock.uptime
        let (known, asked, isFirst) = state.withLock { state in
            if let answer = state.answer, state.asked == nil, now - answer.at < freshness {
                return (Optional(answer.finding), now, false)
            }
            defer { state.asked = state.asked ?? now }
            return (nil, state.asked ?? now, state.asked == nil)
        }
        if let known { return known }
        if isFirst { Task { self.answer(await ask()) } }
        return await answer(to: asked) ?? silence(since: asked)
    }

    private func silence(since asked: Duration) -> HealthReport.Finding {
        .silent("\(name) has not answered for \((clock.uptime - asked).components.seconds) seconds")
    }

    private func answer(_ finding: HealthReport.Finding) {
        let waiting = state.withLock { state in
            state.asked = nil
            state.answer = (finding, clock.uptime)
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: finding) }
    }

    /// - Returns: nil after the timeout.
    private func answer(to asked: Duration) async -> HealthReport.Finding? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let timer = Task {
            // Cancelled once the answer has arrived.
            guard (try? await clock.sleep(for: asked + self.timeLimit - clock.uptime)) != nil else { return }
            self.state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: nil)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let answer: HealthReport.Finding?? = state.withLock { state in
                // The answer may have arrived meanwhile, or the timeout may have passed.
                if state.asked != asked { return .some(state.answer?.finding) }
                if clock.uptime - asked >= self.timeLimit { return .some(nil) }
                state.waiting[id] = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }
}
