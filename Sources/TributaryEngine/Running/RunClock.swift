package import Foundation

/// The time of day, and waiting for some of it to pass. Tests set their own.
package protocol RunClock: Sendable {
    func now() -> Date
    /// Time that has passed since some moment, whatever becomes of the time of day.
    var uptime: Duration { get }
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
    /// Returns at once where the time has come before.
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

    package func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }

    package func sleep(until date: Date) async throws {
        try await Task.sleep(for: .seconds(max(date.timeIntervalSinceNow, 0)))
    }
}
