package import Foundation

/// A clock that gives the time of day and can wait. Tests use their own.
package protocol RunClock: Sendable {
    func now() -> Date
    /// The time since some fixed moment, unaffected by changes of the time of day.
    var uptime: Duration { get }
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
    /// Waits until a date; returns at once if it has passed.
    ///
    /// - Throws: `CancellationError`.
    func sleep(until date: Date) async throws
}

/// The machine's clock.
package struct SystemClock: RunClock {
    private static let start = ContinuousClock.now

    package init() {}

    package var uptime: Duration { ContinuousClock.now - Self.start }

    package func now() -> Date { Date() }

    package func sleep(for duration: Duration) async throws { try await Timers.shared.sleep(until: .now + duration) }

    package func sleep(until date: Date) async throws {
        try await sleep(for: .seconds(max(date.timeIntervalSinceNow, 0)))
    }
}
