import FeedFetching

/// The permit that a run needs to begin: one of the slots for concurrent runs, and a permit at the host of its first
/// request. Its holder releases it.
struct RunPermit: Sendable {
    /// The slots of which the run has one: those of all runs, or those of slow sources. nil for a run without a slot.
    var slots: Slots?
    /// True if the slot is one of slow sources, which the run keeps while it waits for its server.
    var isSlow = false
    /// The permit at the first request's host; nil if that host is not known yet.
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
