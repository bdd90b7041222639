import FeedModel
package import Foundation
import Synchronization

/// Origins that asked to be left alone, in memory; the store keeps them over a restart.
package final class BusyHosts: Sendable {
    private let until: Mutex<[String: Date]>

    package init(_ known: [String: Date]) { until = Mutex(known) }

    package var isEmpty: Bool { until.withLock { $0.isEmpty } }

    /// Until when an origin is to be left alone; nil where it is not.
    package func end(of origin: String, now: Date) -> Date? {
        until.withLock { until in
            guard let end = until[origin], end > now else {
                until[origin] = nil
                return nil
            }
            return end
        }
    }

    /// Those whose time is over are forgotten: servers choose the names of origins.
    package func leaveAlone(_ origin: String, until end: Date, now: Date) {
        until.withLock { until in
            until = until.filter { $0.value > now }
            until[origin] = max(until[origin] ?? end, end)
        }
    }

    /// The clock was set back: nobody is left alone for longer than a server may ask for.
    package func cutWaits(to now: Date) {
        until.withLock { $0 = $0.mapValues { min($0, now + RetryAfter.longest.seconds) } }
    }
}
