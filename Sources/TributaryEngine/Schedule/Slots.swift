import FeedFetching
import Locking

/// A limit on concurrent work. Callers do not wait: ``onFree(_:)`` reports when a refused caller may try again.
final class Slots: Sendable {
    private struct State {
        var limit: Int
        var taken = 0
        var hasRefused = false
        var onFree: @Sendable () -> Void = {}

        /// Returns the action for free slots, once for all refused callers.
        mutating func takeAction() -> (@Sendable () -> Void)? {
            guard hasRefused, taken < limit else { return nil }
            hasRefused = false
            return onFree
        }
    }

    private let state: Mutex<State>

    init(limit: Int) { state = Mutex(State(limit: limit)) }

    /// Sets the action for free slots after a refused ``acquire()``.
    func onFree(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onFree = action } }

    /// Changes the limit. Acquired slots stay acquired.
    func setLimit(_ limit: Int) {
        let action = state.withLock { state in
            state.limit = limit
            return state.takeAction()
        }
        action?()
    }

    /// Acquires a slot. Call ``release()`` after it returns true.
    func acquire() -> Bool {
        state.withLock { state in
            guard state.taken < state.limit else {
                state.hasRefused = true
                return false
            }
            state.taken += 1
            return true
        }
    }

    /// Acquires a slot, exceeding the limit if none is free. For callers that must not wait because others wait for
    /// their permits.
    func acquireOverLimit() { state.withLock { $0.taken += 1 } }

    func release() {
        let action = state.withLock { state in
            state.taken -= 1
            return state.takeAction()
        }
        action?()
    }
}

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
