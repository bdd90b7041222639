import Foundation
import FeedModel

/// Ticks when the next source is due, once for each setting.
///
/// It sleeps for at most a minute, to notice a changed clock or a suspended machine. After an early tick without a due
/// source, the timer is set again.
final class DueTimer: Sendable {
    /// The ticks; unread ticks count as one. Empty if ticks call a function.
    let ticks: AsyncStream<Void>
    private let onTick: @Sendable () -> Void
    private let clock: any RunClock
    private let executor: (any TaskExecutor)?
    /// The sleeping task, and the end of its sleep. No task awaits it. It ends with its tick, with an earlier setting,
    /// or with `set(nil)`.
    private let sleeper = Mutex<(end: Date, task: Task<Void, Never>)?>(nil)

    /// - Parameters:
    ///   - executor: runs the timer; nil for the global one.
    ///   - onTick: called with each tick; nil for a timer whose ``ticks`` are read.
    init(
        clock: any RunClock, on executor: (any TaskExecutor)? = nil, onTick: (@Sendable () -> Void)? = nil
    ) {
        self.clock = clock
        self.executor = executor
        let (ticks, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.ticks = ticks
        self.onTick = onTick ?? { continuation.yield() }
    }

    /// Ticks at `date`, or earlier if the timer is set for an earlier time. Nil cancels the timer.
    func set(_ date: Date?) {
        let former: Task<Void, Never>? = sleeper.withLock { sleeper in
            guard let date else {
                defer { sleeper = nil }
                return sleeper?.task
            }
            let end = min(date, clock.now() + 60)
            if let sleeper, sleeper.end <= end { return nil }
            defer { sleeper = (end, Task(executorPreference: executor) { await self.tick(at: end) }) }
            return sleeper?.task
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

    private func tick(at end: Date) async {
        guard (try? await clock.sleep(until: end)) != nil, !Task.isCancelled else { return }
        sleeper.withLock { if $0?.end == end { $0 = nil } }
        onTick()
    }
}
