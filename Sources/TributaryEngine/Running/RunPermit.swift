import FeedFetching

/// What a run needs to begin: one of the slots for runs at the same time, and a place at the host of its first request.
struct RunPermit: Sendable {
    /// The one key of the limiter of runs.
    static let slotKey = "run"

    /// Nil for a run that nobody counts.
    var slot: HostLimiter.Place?
    /// Nil where the first request's host is known only when it is sent.
    var place: HostLimiter.Place?

    /// Whether a run may begin now.
    enum Admission {
        case admitted(RunPermit)
        case hostIsFull
        case noSlot
    }
}

extension RunEnvironment {
    /// - Parameter origin: whom the first request asks; nil where that is not known yet.
    func admission(to origin: String?) -> RunPermit.Admission {
        var permit = RunPermit()
        if let origin {
            guard let place = hosts.placeIfFree(at: origin) else { return .hostIsFull }
            permit.place = place
        }
        guard let slot = slots.placeIfFree(at: RunPermit.slotKey) else { return .noSlot }
        permit.slot = slot
        return .admitted(permit)
    }
}
