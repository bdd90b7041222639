import FeedDeclarations
import FeedFetching
import FeedModel
import FeedStores

/// The time of one exchange: what it has taken, and how much of the request's timeout is left.
struct ExchangeTime: Sendable {
    private let request: RequestDeclaration
    private let clock: any RunClock
    /// The progress of the exchange, with which a timeout names the part that was late.
    private let progress: ExchangeProgress
    private var began: Duration

    /// - Parameter active: measures the time in which the exchange did not wait for its host.
    init(_ request: RequestDeclaration, _ active: ActiveTime, clock: any RunClock) {
        self.request = request
        self.clock = clock
        progress = ExchangeProgress(active)
        began = clock.uptime
    }

    /// The time that the exchange has taken so far, without waits for a host's pace.
    var spent: Duration { clock.uptime - began - progress.paused(until: clock.uptime) }

    /// Goes on after a pause that is not the exchange's.
    ///
    /// - Parameter spent: the time that it had taken before.
    func resumed(after spent: Duration) -> ExchangeTime {
        var time = self
        time.began = clock.uptime - progress.paused(until: clock.uptime) - spent
        return time
    }

    /// Runs a part of the exchange, in what is left of the request's timeout. Waits for a host's pace are the host's.
    ///
    /// - Parameter operation: gets the progress that the exchange notes.
    /// - Throws: the operation's error; ``FetchError`` once the time is up, naming what did not come.
    func limiting<Value: Sendable>(
        _ operation: @escaping @Sendable (ExchangeProgress) async throws -> Value
    ) async throws -> Value {
        let (clock, progress) = (clock, progress)
        let pausedBefore = progress.paused(until: clock.uptime)
        return try await withDeadline(
            request.timeout - spent, clock: clock, paused: { progress.paused(until: clock.uptime) - pausedBefore }
        ) { [request] in
            let error = FetchError(
                .timeout, "\(request.method) \(request.url): \(progress.timeoutDetail(after: request.timeout))")
            return progress.page.map(error.on) ?? error
        } _: {
            try await operation(progress)
        }
    }
}

/// The repetitions of an exchange that breaks off, if its declaration says so and it is safe.
struct Repetitions: Sendable {
    /// The longest pause between two attempts. The first pause is a quarter of a second, each further one twice as long.
    private static let longestPause = Duration.seconds(3600)

    private static let firstPause = Duration.milliseconds(250)

    private var left: Int
    private var pause = Self.firstPause

    /// - Parameter request: the declaration; nil for an exchange without repetitions.
    init(of request: RequestDeclaration?) { left = request?.safeRetries ?? 0 }

    /// Makes the next pause a short one again: the server has sent something since the last.
    mutating func noteProgress() { pause = Self.firstPause }

    /// Waits for the next attempt, where there is one.
    ///
    /// - Returns: false where the error is final.
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
