import FeedModel

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
