import Foundation
import Synchronization

/// Tells when the next source is due: one tick for each time it is set, at that time.
///
/// It sleeps until then, but never longer than a minute, so that a clock that was set, or a machine that was suspended,
/// is noticed: the tick then finds nothing due, and the timer is set anew.
final class DueTimer: Sendable {
    let ticks: AsyncStream<SchedulerEvent>
    private let continuation: AsyncStream<SchedulerEvent>.Continuation
    private let clock: any RunClock
    /// The task that sleeps. Nobody awaits it: it ends with its tick, with the next setting, or with `set(nil)`.
    private let sleeper = Mutex<Task<Void, Never>?>(nil)

    init(clock: any RunClock) {
        self.clock = clock
        (ticks, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Ticks at `date`, or in a minute if that is sooner; nil for not at all.
    func set(_ date: Date?) {
        let task = date.map { date in
            Task { [clock, continuation] in
                let date = min(date, clock.now() + 60)
                guard (try? await clock.sleep(until: date)) != nil else { return }
                continuation.yield(.due)
            }
        }
        let former = sleeper.withLock { sleeper in
            defer { sleeper = task }
            return sleeper
        }
        former?.cancel()
    }
}
