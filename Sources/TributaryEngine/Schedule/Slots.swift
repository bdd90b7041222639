import FeedFetching
import HeapModule
import FeedModel

/// A limit on concurrent work. Callers either wait, and those who have begun first come first, so that they end. Or they are
/// refused: then ``onFree(_:)`` reports when they may try again.
final class Slots: Sendable {
    private struct Waiter: Comparable {
        var number: Int
        var action: @Sendable () -> Void

        static func < (one: Waiter, other: Waiter) -> Bool { one.number < other.number }

        static func == (one: Waiter, other: Waiter) -> Bool { one.number == other.number }
    }

    private struct State {
        var limit: Int
        var taken = 0
        var lastNumber = 0
        var waiting = Heap<Waiter>()
        var hasRefused = false
        var onFree: @Sendable () -> Void = {}
    }

    private let state: Mutex<State>
    private let mostWaiting: Int

    /// - Parameter mostWaiting: the number of waiting callers from which on ``hasRoom()`` returns false.
    init(limit: Int, mostWaiting: Int = 0) {
        state = Mutex(State(limit: limit))
        self.mostWaiting = mostWaiting
    }

    /// Sets the action for refused callers. It is called once for all of them.
    func onFree(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onFree = action } }

    /// Changes the limit. Acquired slots stay acquired.
    func setLimit(_ limit: Int) { change { $0.limit = limit } }

    /// Returns the next number of a caller that may wait.
    func makeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Acquires a slot, or is refused. Call ``release()`` after it returns true.
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

    /// Acquires a slot now or later. Call ``release()`` after it returns true, or after the call of `later`.
    ///
    /// - Parameters:
    ///   - number: the number of the caller (``makeNumber()``). Of those that wait, the lowest number comes first.
    ///   - later: called with an acquired slot, if this function returns false.
    func acquire(_ number: Int, orWait later: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.taken < state.limit else {
                state.waiting.insert(Waiter(number: number, action: later))
                return false
            }
            state.taken += 1
            return true
        }
    }

    /// Returns true if a slot is free, or if few callers wait for one. Otherwise the caller counts as refused.
    func hasRoom() -> Bool {
        state.withLock { state in
            let hasRoom = isOpen(state)
            if !hasRoom { state.hasRefused = true }
            return hasRoom
        }
    }

    func release() { change { $0.taken -= 1 } }

    private func isOpen(_ state: State) -> Bool { state.taken < state.limit || state.waiting.count < mostWaiting }

    /// Changes the state. Gives free slots to waiting callers, and reports room to refused ones, outside of the lock.
    private func change(_ body: (inout State) -> Void) {
        let actions = state.withLock { state in
            body(&state)
            var actions: [@Sendable () -> Void] = []
            while state.taken < state.limit, let next = state.waiting.popMin() {
                state.taken += 1
                actions.append(next.action)
            }
            if state.hasRefused, isOpen(state) {
                state.hasRefused = false
                actions.append(state.onFree)
            }
            return actions
        }
        for action in actions { action() }
    }
}

/// What a run needs to begin: a place among the runs in progress, and a permit at the host of its first request. Its
/// holder releases it.
struct RunPermit: Sendable {
    /// The limit of runs in progress; nil for a run that does not count.
    var places: Slots?
    /// The permit at the first request's host; nil if that host is not known yet.
    var host: HostPermit?

    func release() {
        places?.release()
        host?.release()
    }

    /// The answer to a run that asks to begin now.
    enum Admission {
        case admitted(RunPermit)
        case hostIsFull
        /// No run may begin now.
        case noPlace
    }
}
