import FeedModel
package import Foundation

/// The only clock of the engine: the time of day, the uptime and sleeps. Tests use their own.
package protocol RunClock: Sendable {
    func now() -> Date
    /// The time since an arbitrary fixed moment, unaffected by changes of the time of day.
    var uptime: Duration { get }
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
    /// Waits until a date; returns at once if it has passed.
    ///
    /// - Throws: `CancellationError`.
    func sleep(until date: Date) async throws
}

/// The engine's only source of random numbers. The simulator derives them from a seed.
package protocol RandomSource: Sendable {
    func next() -> UInt64
}

extension RandomSource {
    /// Returns a number from 0 to 1, 1 excluded.
    func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns a number within a range.
    func number(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + fraction() * (range.upperBound - range.lowerBound)
    }

    /// Returns 128 random bits as 32 hexadecimal digits.
    func identifier() -> String { Fingerprint.hexadecimal(next()) + Fingerprint.hexadecimal(next()) }
}

/// Threads for blocking work. The simulator runs all work on its own thread.
package protocol WorkThreads: Sendable {
    /// Creates the queue of a scheduler and of its runs before they parse a body.
    func engineQueue() -> any WorkQueue
    /// Creates a serial queue.
    func queue(_ label: String) -> any WorkQueue
    /// Runs work on a thread of its own.
    func detach(_ work: @escaping @Sendable () -> Void)
}

package protocol WorkQueue: Sendable {
    func add(_ work: @escaping @Sendable () -> Void)
    /// Stops the process unless the current thread runs the queue's work.
    func checkCurrent()
}

extension WorkThreads {
    /// Runs a blocking body on a thread of its own.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            detach { continuation.resume(with: Result { try body() }) }
        }
    }
}

/// Detects that the clock was set back: its time is earlier than its last time plus the elapsed uptime.
struct ClockWatch {
    private let clock: any RunClock
    private var date: Date
    private var uptime: Duration

    init(_ clock: any RunClock) {
        self.clock = clock
        date = clock.now()
        uptime = clock.uptime
    }

    /// - Returns: the clock's time; if it was set back by more than a second since the last call, also the time without
    ///   that change.
    mutating func look() -> (now: Date, former: Date?) {
        let now = clock.now()
        let uptime = clock.uptime
        let expected = date + (uptime - self.uptime).seconds
        date = now
        self.uptime = uptime
        return (now, now < expected - 1 ? expected : nil)
    }
}

/// Runs an operation, and cancels it after a time.
///
/// - Throws: the operation's error; `timeout` after the time.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration, by clock: any RunClock, timeout: @autoclosure @escaping @Sendable () -> any Error,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let end = clock.uptime + limit
    return try await withDeadline(clock: clock, left: { end - clock.uptime }, timeout: timeout, operation)
}

/// Runs an operation, and cancels it at its deadline.
///
/// - Parameter left: returns the time to the deadline, which pauses move.
/// - Throws: the operation's error; that of `timeout` after the deadline.
func withDeadline<Value: Sendable>(
    clock: any RunClock, left: @escaping @Sendable () -> Duration, timeout: @escaping @Sendable () -> any Error,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            var rest = left()
            while rest > .zero {
                try await clock.sleep(for: rest)
                let more = left()
                // Sleeps for at least 100 ms while a pause lasts.
                rest = more > .milliseconds(1) ? max(more, .milliseconds(100)) : .zero
            }
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let value = first else {
            group.cancelAll()
            // Waits for the end of the operation, so that its resources are free.
            while let outcome = await group.nextResult() { _ = outcome }
            throw timeout()
        }
        return value
    }
}
