import Locking

/// Requests to refresh sources that the scheduler's loop has not taken yet. However many come, the loop is called once, so
/// that a storm of them delays nothing else.
final class RefreshRequests: Sendable {
    enum Asked: Sendable, Equatable {
        case all
        case sources(Set<String>)
    }

    private let asked = Mutex<Asked?>(nil)

    /// Adds a request for sources, or for all (nil).
    ///
    /// - Returns: true where it is the first since the last were taken.
    func add(_ sources: [String]?) -> Bool {
        asked.withLock { asked in
            let former = asked
            switch (former, sources) {
            case (.all, _), (_, nil): asked = .all
            case (.sources(let known), let more?): asked = .sources(known.union(more))
            case (nil, let more?): asked = .sources(Set(more))
            }
            return former == nil
        }
    }

    /// Returns the requests, and forgets them; nil where there are none.
    func take() -> Asked? {
        asked.withLock { asked in
            defer { asked = nil }
            return asked
        }
    }
}
