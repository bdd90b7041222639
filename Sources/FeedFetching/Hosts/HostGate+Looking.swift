package import FeedDeclarations

/// The activity at one host, for commands and the page.
package struct HostActivity: Sendable {
    /// An origin, or the host that `[hosts]` declares.
    package var key: String
    /// The exchanges in progress, and their limit.
    package var permits: Int
    package var limit: Int
    /// The time between two requests that `[hosts]` declares.
    package var pace: Duration?
    /// The number of runs in progress that wait for a permit or the rate limit, and of origins whose runs wait to
    /// begin.
    package var waiting: Int
    package var refused: [Origin]
}

extension HostGate {
    /// The activity at each host with an exchange, a waiting run or a rate limit, sorted by name.
    package var activity: [HostActivity] {
        looking { queues in
            Set(queues.hosts.keys).union(queues.rules.pacedKeys).sorted().map { key in
                let host = queues.hosts[key] ?? HostQueues.Host()
                return HostActivity(
                    key: key, permits: host.permits, limit: queues.rules.limit(at: key),
                    pace: queues.rules.pace(at: key),
                    waiting: host.arrivals.count + host.senders.count, refused: host.refused)
            }
        }
    }
}
