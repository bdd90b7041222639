import Locking

/// Requests to refresh sources that the scheduler's loop has not handled yet. They wake the loop once, so that many
/// requests do not delay other events.
final class RefreshRequests: Sendable {
    enum Pending: Sendable, Equatable {
        case all
        case sources(Set<String>)
    }

    private let pending = Mutex<Pending?>(nil)

    /// Adds a request for sources, or for all (nil).
    ///
    /// - Returns: true for the first request since the last ``take()``.
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

    /// Returns and removes the requests; nil without one.
    func take() -> Pending? {
        pending.withLock { pending in
            defer { pending = nil }
            return pending
        }
    }
}
