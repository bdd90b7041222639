package import FeedDeclarations

/// What goes on at one host, for those who look on.
package struct HostActivity: Sendable {
    /// An origin, or the host that `[hosts]` declares.
    package var key: String
    /// The exchanges under way, and the most at the same time.
    package var permits: Int
    package var limit: Int
    /// The time between two requests that `[hosts]` declares.
    package var pace: Duration?
    /// The runs under way that wait for a permit or for the pace, and the origins of runs that have not begun.
    package var waiting: Int
    package var refused: [Origin]
}

extension HostGate {
    /// What goes on at each host with an exchange, somebody who waits, or a pace; by name.
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
