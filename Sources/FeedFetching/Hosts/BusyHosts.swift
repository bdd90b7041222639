package import FeedDeclarations
import FeedModel
package import Foundation
import Locking

/// The origins that requested a wait (429 or 503 with Retry-After), in memory. The store keeps them across restarts.
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

    /// Returns the origins that are waited for, with the ends of the waits.
    package func waiting(now: Date) -> [Origin: Date] { until.withLock { $0.filter { $0.value > now } } }

    /// Returns the end of an origin's wait; nil without one.
    package func end(of origin: Origin, now: Date) -> Date? {
        until.withLock { until in
            guard let end = until[origin], end > now else {
                until[origin] = nil
                return nil
            }
            return end
        }
    }

    /// Notes an origin's wait. Removes the origins whose wait is over, so that the list does not grow with names from
    /// servers.
    package func leaveAlone(_ origin: Origin, until end: Date, now: Date) {
        until.withLock { until in
            until = until.filter { $0.value > now }
            until[origin] = max(until[origin] ?? end, end)
        }
    }

    /// Limits the waits to the longest allowed one, after the clock was set back.
    package func cutWaits(to now: Date) {
        until.withLock { $0 = $0.mapValues { min($0, now + RetryAfter.longest.seconds) } }
    }
}
