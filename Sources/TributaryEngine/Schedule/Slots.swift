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
