import Synchronization

/// How many are inside at once, and how many ever were.
package final class Counter: Sendable {
    private let state = Mutex((now: 0, most: 0, total: 0))

    package init() {}

    package var most: Int { state.withLock { $0.most } }

    package var total: Int { state.withLock { $0.total } }

    package func enter() {
        state.withLock { state in
            state.now += 1
            state.total += 1
            state.most = max(state.most, state.now)
        }
    }

    package func leave() { state.withLock { $0.now -= 1 } }
}
