import FeedModel
package import Foundation

/// The only clock of the engine: the time of day, the uptime and sleeps. Tests use their own.
package protocol RunClock: Sendable {
    func now() -> Date
    /// The time since an arbitrary fixed moment, unaffected by changes of the time of day.
    var uptime: Duration { get }
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
    /// Does a short action after a time, unless the alarm is cancelled before. Never does it within the call.
    func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm
}

/// An action at a later time. It takes no task.
package struct Alarm: Sendable {
    /// Prevents the action, unless it has begun.
    package let cancel: @Sendable () -> Void

    package init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
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
    let deadline = Deadline(clock: clock, left: left)
    return try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask {
            defer { deadline.end() }
            return try await operation()
        }
        let isMissed = await deadline.isMissed()
        if isMissed { group.cancelAll() }
        // Also after a missed deadline, so that the operation's resources are free.
        let outcome = await group.nextResult()
        guard !isMissed, let outcome else { throw timeout() }
        return try outcome.get()
    }
}

/// The deadline of an operation: waits for the deadline or the operation's end, whichever comes first.
private final class Deadline: Sendable {
    private struct State {
        /// nil until the deadline or the operation's end.
        var isMissed: Bool?
        var waiter: CheckedContinuation<Bool, Never>?
        var alarm: Alarm?
    }

    private let clock: any RunClock
    private let left: @Sendable () -> Duration
    private let state = Mutex(State())

    init(clock: any RunClock, left: @escaping @Sendable () -> Duration) {
        self.clock = clock
        self.left = left
    }

    /// Returns false if the operation has ended first. Call it once.
    func isMissed() async -> Bool {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.isMissed == nil { state.waiter = continuation }
                return state.isMissed
            }
            if let known { continuation.resume(returning: known) } else { look(atLeastAfter: .zero) }
        }
    }

    /// Notes the end of the operation.
    func end() { finish(isMissed: false) }

    private func look(atLeastAfter pause: Duration) {
        let rest = left()
        guard rest > .milliseconds(1) else { return finish(isMissed: true) }
        // Looks only every 100 ms while a pause of the exchange moves the deadline.
        let alarm = clock.alarm(after: max(rest, pause)) { [weak self] in self?.look(atLeastAfter: .milliseconds(100)) }
        let isOver = state.withLock { state in
            if state.isMissed == nil { state.alarm = alarm }
            return state.isMissed != nil
        }
        if isOver { alarm.cancel() }
    }

    private func finish(isMissed: Bool) {
        let former = state.withLock { state in
            let former = state
            if state.isMissed == nil { state = State(isMissed: isMissed) }
            return former
        }
        guard former.isMissed == nil else { return }
        former.alarm?.cancel()
        former.waiter?.resume(returning: isMissed)
    }
}
