import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStores

/// The time of one exchange: the time spent, and the rest of the request's timeout.
struct ExchangeTime: Sendable {
    private let request: RequestDeclaration
    private let clock: any RunClock
    /// The progress of the exchange. A timeout's error names the late step.
    private let progress: ExchangeProgress
    /// Returns the time for which the load waited for a slot.
    private var waited: @Sendable () -> Duration
    /// The uptime at the beginning, less the pauses until then.
    private var began = Duration.zero

    /// - Parameters:
    ///   - active: measures the time without waits for the host.
    ///   - waited: returns the time for which the load waited for a slot.
    init(
        _ request: RequestDeclaration, _ active: ActiveTime, clock: any RunClock,
        waited: @escaping @Sendable () -> Duration = { .zero }
    ) {
        self.request = request
        self.clock = clock
        self.waited = waited
        progress = ExchangeProgress(active)
        began = clock.uptime - paused
    }

    /// The time of the pauses so far: waits for a host's rate limit, and for a slot.
    private var paused: Duration { progress.paused(until: clock.uptime) + waited() }

    /// The time spent so far, without pauses.
    var spent: Duration { clock.uptime - paused - began }

    /// Returns the time of an exchange that continues after a pause, which does not count.
    ///
    /// - Parameters:
    ///   - spent: the time spent before the pause.
    ///   - waited: returns the time for which the load waited for a slot.
    func resumed(after spent: Duration, waited: @escaping @Sendable () -> Duration) -> ExchangeTime {
        var time = self
        time.waited = waited
        time.began = clock.uptime - time.paused - spent
        return time
    }

    /// Runs a part of the exchange, in the rest of the request's timeout. Pauses do not count.
    ///
    /// - Parameter operation: receives the progress of the exchange.
    /// - Throws: the operation's error; ``FetchError`` after the timeout, with the late step.
    func limiting<Value: Sendable>(
        _ operation: @escaping @Sendable (ExchangeProgress) async throws -> Value
    ) async throws -> Value {
        let progress = progress
        let pausedBefore = paused
        return try await withDeadline(
            request.timeout - spent, clock: clock, paused: { paused - pausedBefore }
        ) { [request] in
            let error = FetchError(
                .timeout, "\(request.method) \(request.url): \(progress.timeoutDetail(after: request.timeout))")
            return progress.page.map(error.on) ?? error
        } _: {
            try await operation(progress)
        }
    }
}

/// The repetitions of an interrupted exchange, if the request declares them and is safe to repeat.
struct Repetitions: Sendable {
    /// The longest pause between two attempts. Pauses begin with a quarter of a second, and double.
    private static let longestPause = Duration.seconds(3600)

    private static let firstPause = Duration.milliseconds(250)

    private var left: Int
    private var pause = Self.firstPause

    /// - Parameter request: the declaration; nil for an exchange without repetitions.
    init(of request: RequestDeclaration?) { left = request?.safeRetries ?? 0 }

    /// Resets the pause, because the server has sent bytes since the last attempt.
    mutating func noteProgress() { pause = Self.firstPause }

    /// Waits for the next attempt.
    ///
    /// - Returns: false if the error is final.
    /// - Throws: `CancellationError`.
    mutating func wait(after error: any Error, in environment: RunEnvironment) async throws -> Bool {
        guard let error = error as? FetchError, error.isWorthRepeating, left > 0, !Task.isCancelled else {
            return false
        }
        left -= 1
        try await environment.clock.sleep(for: pause * environment.random.number(in: 0.8...1.2))
        pause = min(pause * 2, Self.longestPause)
        return true
    }
}
