import FeedModel
import Foundation

/// Notices that the clock was set back: it says less than it did, and the time that has passed.
struct ClockWatch {
    private let clock: any RunClock
    private var date: Date
    private var uptime: Duration

    init(_ clock: any RunClock) {
        self.clock = clock
        date = clock.now()
        uptime = clock.uptime
    }

    /// - Returns: what the clock says; and, where it was set back by more than a second since it was last looked at, what it
    ///   would say had it not been.
    mutating func look() -> (now: Date, former: Date?) {
        let now = clock.now()
        let uptime = clock.uptime
        let expected = date + (uptime - self.uptime).seconds
        date = now
        self.uptime = uptime
        return (now, now < expected - 1 ? expected : nil)
    }
}
