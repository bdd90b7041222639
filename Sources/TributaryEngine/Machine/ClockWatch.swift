import FeedModel
import Foundation

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
