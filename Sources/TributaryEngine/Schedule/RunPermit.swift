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
