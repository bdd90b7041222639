import Foundation
import FeedModel

/// The waiting time for a lock of another process: two minutes, enough to commit the largest stack, or three seconds
/// once the program has been asked to stop.
final class LockWait: Sendable {
    private static let limit = Duration.seconds(120)
    private static let lastLimit = Duration.seconds(3)

    /// A shorter limit for the work of the current thread.
    @TaskLocal private static var ownLimit: Duration?

    private let deadline = Mutex<ContinuousClock.Instant?>(nil)
    private let work: SQLiteWork?

    /// - Parameter work: says whether to wait at all; nil for waits by the machine's clock.
    init(_ work: SQLiteWork? = nil) { self.work = work }

    /// Limits all further waiting to three seconds from now.
    func end() { deadline.withLock { $0 = $0 ?? .now + Self.lastLimit } }

    /// Waits in `body` no longer than this for each lock.
    static func limited<Value>(to limit: Duration, _ body: () throws -> Value) rethrows -> Value {
        try $ownLimit.withValue(limit, operation: body)
    }

    /// SQLite's busy handler (c3ref/busy_handler.html). Pauses at growing intervals, as SQLite's own does.
    ///
    /// - Parameter tries: the number of earlier calls for the same lock.
    /// - Returns: true to try once more.
    func pause(tries: Int) -> Bool {
        if let work { return work.pause(tries) }
        let pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50]
        let pause = tries < pauses.count ? pauses[tries] : 100
        let waited = pauses.prefix(tries).reduce(0, +) + 100 * max(0, tries - pauses.count)
        if .milliseconds(waited) >= Self.ownLimit ?? Self.limit { return false }
        if let deadline = deadline.withLock(\.self), .now >= deadline { return false }
        usleep(UInt32(pause * 1000))
        return true
    }
}
