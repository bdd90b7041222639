import FeedModel
import Foundation

/// Ticks when the next source is due, once for each setting.
///
/// It waits for at most a minute, to notice a changed clock or a suspended machine. After an early tick without a due
/// source, the timer is set again.
final class DueTimer: Sendable {
    /// The ticks; unread ticks count as one. Empty if ticks call a function.
    let ticks: AsyncStream<Void>
    private let onTick: @Sendable () -> Void
    private let clock: any RunClock
    /// The alarm for the next tick, and its time.
    private let setting = Mutex<(end: Date, alarm: Alarm)?>(nil)

    /// - Parameter onTick: called with each tick; nil for a timer whose ``ticks`` are read.
    init(clock: any RunClock, onTick: (@Sendable () -> Void)? = nil) {
        self.clock = clock
        let (ticks, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.ticks = ticks
        self.onTick = onTick ?? { continuation.yield() }
    }

    /// Ticks at `date`, or earlier if the timer is set for an earlier time. Nil cancels the timer.
    func set(_ date: Date?) {
        let former: Alarm? = setting.withLock { setting in
            guard let date else {
                defer { setting = nil }
                return setting?.alarm
            }
            let now = clock.now()
            let end = min(date, now + 60)
            if let setting, setting.end <= end { return nil }
            let wait = Duration.seconds(max(0, end.timeIntervalSince(now)))
            defer { setting = (end, clock.alarm(after: wait) { [weak self] in self?.tick(at: end) }) }
            return setting?.alarm
        }
        former?.cancel()
    }

    /// Calls a body at once and with each tick, until the task is cancelled. A tick during the call is followed by another one.
    ///
    /// - Parameter body: returns the time of the next call, which an earlier setting precedes.
    /// - Throws: the error of `body`, which ends the calls.
    func run(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Date) async rethrows {
        defer { set(nil) }
        set(.distantPast)
        for await _ in ticks where !Task.isCancelled {
            let next = try await body()
            if Task.isCancelled { break }
            set(next)
        }
    }

    private func tick(at end: Date) {
        setting.withLock { if $0?.end == end { $0 = nil } }
        onTick()
    }
}
