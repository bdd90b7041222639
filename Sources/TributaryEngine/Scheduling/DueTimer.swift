import Foundation
import Synchronization

/// Ticks when the next source is due: once for each time it is set.
///
/// It sleeps until then, but at most a minute, to notice a clock that was set or a machine that was suspended. Such a
/// tick finds nothing due, and the timer is set again.
final class DueTimer: Sendable {
    let ticks: AsyncStream<SchedulerEvent>
    private let continuation: AsyncStream<SchedulerEvent>.Continuation
    private let clock: any RunClock
    /// The sleeping task. Nothing awaits it: it ends with its tick, with the next setting, or with `set(nil)`.
    private let sleeper = Mutex<Task<Void, Never>?>(nil)

    init(clock: any RunClock) {
        self.clock = clock
        (ticks, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Ticks at `date`, or in a minute if that is sooner; not at all if `date` is nil.
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
