import Locking

/// Requests to refresh sources that the scheduler's loop has not taken yet. However many come, the loop is called once, so
/// that a storm of them delays nothing else.
final class RefreshRequests: Sendable {
    enum Pending: Sendable, Equatable {
        case all
        case sources(Set<String>)
    }

    private let pending = Mutex<Pending?>(nil)

    /// Adds a request for sources, or for all (nil).
    ///
    /// - Returns: true where it is the first since the last were taken.
    func add(_ sources: [String]?) -> Bool {
        pending.withLock { pending in
            let former = pending
            switch (former, sources) {
            case (.all, _), (_, nil): pending = .all
            case (.sources(let known), let more?): pending = .sources(known.union(more))
            case (nil, let more?): pending = .sources(Set(more))
            }
            return former == nil
        }
    }

    /// Returns the requests, and forgets them; nil where there are none.
    func take() -> Pending? {
        pending.withLock { pending in
            defer { pending = nil }
            return pending
        }
    }
}
