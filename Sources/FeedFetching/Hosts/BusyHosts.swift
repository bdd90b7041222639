package import FeedDeclarations
import FeedModel
package import Foundation
import Locking

/// The origins that asked for no requests for a time, in memory. The store keeps them across restarts.
package final class BusyHosts: Sendable {
    private let until: Mutex<[Origin: Date]>

    /// - Parameter known: the ends of waits, by the origins as the store writes them.
    package init(_ known: [String: Date]) {
        until = Mutex(
            known.reduce(into: [:]) { until, wait in
                if let origin = Origin(wait.key) { until[origin] = wait.value }
            })
    }

    package var isEmpty: Bool { until.withLock { $0.isEmpty } }

    /// Returns the origins that asked for a wait which has not ended, with its end.
    package func waiting(now: Date) -> [Origin: Date] { until.withLock { $0.filter { $0.value > now } } }

    /// Returns the end of an origin's wait; nil if the origin may be asked.
    package func end(of origin: Origin, now: Date) -> Date? {
        until.withLock { until in
            guard let end = until[origin], end > now else {
                until[origin] = nil
                return nil
            }
            return end
        }
    }

    /// Notes an origin's wait. Drops the origins whose wait is over: servers choose their names, so the list must not
    /// grow.
    package func leaveAlone(_ origin: Origin, until end: Date, now: Date) {
        until.withLock { until in
            until = until.filter { $0.value > now }
            until[origin] = max(until[origin] ?? end, end)
        }
    }

    /// Shortens the waits after the clock was set back: none lasts longer than a server may ask for.
    package func cutWaits(to now: Date) {
        until.withLock { $0 = $0.mapValues { min($0, now + RetryAfter.longest.seconds) } }
    }
}
