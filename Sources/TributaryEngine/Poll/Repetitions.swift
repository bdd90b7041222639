import FeedConfiguration
import FeedFetching
import FeedModel

extension ExchangeClock {
    /// Runs a part of the exchange, in the rest of the request's timeout.
    ///
    /// - Throws: the operation's error; ``FetchError`` after the timeout, with the late step.
    func limiting<Value: Sendable>(
        _ request: RequestDeclaration, by clock: any RunClock, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let (method, url, limit) = (request.method, request.url, request.timeout)
        let timeout: @Sendable () -> any Error = {
            let error = FetchError(.timeout, "\(method) \(url): \(self.timeoutDetail(after: limit))")
            return self.page.map(error.on) ?? error
        }
        return try await withDeadline(
            clock: clock, left: { limit - self.spentOnMessage }, timeout: timeout, operation)
    }
}

extension RunEnvironment {
    /// Runs an exchange, and repeats it while it is interrupted.
    ///
    /// - Returns: its result, and the repetitions that are left.
    func repeating<Value>(
        _ request: RequestDeclaration, _ exchange: () async throws -> Value
    ) async throws -> (Value, Repetitions) {
        var repetitions = Repetitions(of: request)
        while true {
            do {
                return (try await exchange(), repetitions)
            } catch {
                guard try await repetitions.wait(after: error, in: self) else { throw error }
            }
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
