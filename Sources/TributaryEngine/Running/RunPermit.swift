import FeedFetching

/// The permit that a run needs to begin: one of the slots for concurrent runs, or for a slow source one of the places for
/// slow runs, and a place at the host of its first request.
struct RunPermit: Sendable {
    /// The only key of the limiter of runs.
    static let slotKey = "run"

    /// The run's slot; nil for a run that is not counted, or has lent it.
    var slot: HostLimiter.Place?
    /// The place of a slow source's run, which needs no slot while it waits for its server.
    var slowPlace: HostLimiter.Place?
    /// The place at the first request's host; nil if that host is known only when the request is sent.
    var place: HostLimiter.Place?
    /// The first request's turn at a host with a pace.
    var turn: HostPace.Turn?

    /// The answer to a run that asks to begin now.
    enum Admission {
        case admitted(RunPermit)
        case hostIsFull
        /// No run of this lane may begin now.
        case noSlot
    }
}

extension RunEnvironment {
    /// - Parameter origin: the origin of the first request; nil if it is not known yet.
    func admission(to origin: String?, in lane: StartQueue.Lane) -> RunPermit.Admission {
        var permit = RunPermit()
        if let origin {
            guard pace.isOpen(origin), let place = hosts.placeIfFree(at: origin) else { return .hostIsFull }
            permit.place = place
        }
        guard let slot = (lane == .slow ? slowRuns : slots).placeIfFree(at: RunPermit.slotKey) else { return .noSlot }
        if lane == .slow { permit.slowPlace = slot } else { permit.slot = slot }
        if let origin { permit.turn = pace.turn(at: origin) }
        return .admitted(permit)
    }
}
