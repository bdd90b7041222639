import Locking

/// Limits what goes on at the same time to a number. Nobody waits here: whoever is refused tries again when
/// ``onFree(_:)`` reports room.
final class Slots: Sendable {
    private struct State {
        var limit: Int
        var taken = 0
        var hasRefused = false
        var onFree: @Sendable () -> Void = {}

        /// Returns the action for the room that there is, once for all who were refused.
        mutating func takeAction() -> (@Sendable () -> Void)? {
            guard hasRefused, taken < limit else { return nil }
            hasRefused = false
            return onFree
        }
    }

    private let state: Mutex<State>

    init(limit: Int) { state = Mutex(State(limit: limit)) }

    /// Sets the action for room where ``acquire()`` found none.
    func onFree(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onFree = action } }

    /// Changes the limit. What is taken stays so.
    func setLimit(_ limit: Int) {
        let action = state.withLock { state in
            state.limit = limit
            return state.takeAction()
        }
        action?()
    }

    /// Takes one. Whoever gets true calls ``release()``.
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

    /// Takes one, over the limit if none is free. For callers that hold what others wait for, and so must not wait.
    func acquireOverLimit() { state.withLock { $0.taken += 1 } }

    func release() {
        let action = state.withLock { state in
            state.taken -= 1
            return state.takeAction()
        }
        action?()
    }
}
