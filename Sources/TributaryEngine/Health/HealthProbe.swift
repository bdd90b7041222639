import Synchronization

/// Asks something for a sign of life, once at a time, however many want to know: their answer is the one that comes
/// first. Whoever asks within a second is told the last answer.
final class HealthProbe: Sendable {
    private struct State {
        /// When the question was asked that has no answer yet.
        var asked: ContinuousClock.Instant?
        var answer: (finding: HealthReport.Finding, at: ContinuousClock.Instant)?
        var waiting: [Int: CheckedContinuation<HealthReport.Finding?, Never>] = [:]
        var nextID = 0
    }

    private let name: String
    private let patience: Duration
    private let freshness: Duration
    private let ask: @Sendable () async -> HealthReport.Finding
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: what is asked, for the words of a report.
    ///   - patience: how long an answer may take.
    init(
        _ name: String, patience: Duration = .seconds(5), freshness: Duration = .seconds(1),
        _ ask: @escaping @Sendable () async -> HealthReport.Finding
    ) {
        self.name = name
        self.patience = patience
        self.freshness = freshness
        self.ask = ask
    }

    /// Returns within the patience, counted from when the question was asked.
    func finding() async -> HealthReport.Finding {
        let now = ContinuousClock.now
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

    private func silence(since asked: ContinuousClock.Instant) -> HealthReport.Finding {
        .silent("\(name) has not answered for \((ContinuousClock.now - asked).components.seconds) seconds")
    }

    private func answer(_ finding: HealthReport.Finding) {
        let waiting = state.withLock { state in
            state.asked = nil
            state.answer = (finding, .now)
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: finding) }
    }

    /// - Returns: nil where there is none in time.
    private func answer(to asked: ContinuousClock.Instant) async -> HealthReport.Finding? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let patience = Task {
            // Cancelled once the answer is there.
            guard (try? await Task.sleep(until: asked + self.patience, clock: .continuous)) != nil else { return }
            self.state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: nil)
        }
        defer { patience.cancel() }
        return await withCheckedContinuation { continuation in
            let answer: HealthReport.Finding?? = state.withLock { state in
                // It may have come meanwhile, or the time may be up.
                if state.asked != asked { return .some(state.answer?.finding) }
                if ContinuousClock.now - asked >= self.patience { return .some(nil) }
                state.waiting[id] = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }
}
