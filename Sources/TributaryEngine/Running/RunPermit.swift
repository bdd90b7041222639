import FeedFetching

/// The permit that a run needs to begin: one of the slots for concurrent runs, and a permit at the host of its first
/// request. Its holder releases it.
struct RunPermit: Sendable {
    /// The slots of which the run has one: those of all runs, or those of slow sources' runs. nil for a run that is not
    /// counted.
    var slots: Slots?
    /// True where the slot is one of a slow source, which needs no other while it waits for its server.
    var isSlow = false
    /// The permit at the first request's host; nil if that host is known only when the request is sent.
    var host: HostPermit?

    func release() {
        slots?.release()
        host?.release()
    }

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
        let host = origin.flatMap(hosts.start)
        guard origin == nil || host != nil else { return .hostIsFull }
        let slots = lane == .slow ? slowRuns : slots
        guard slots.acquire() else {
            host?.release()
            return .noSlot
        }
        return .admitted(RunPermit(slots: slots, isSlow: lane == .slow, host: host))
    }
}
