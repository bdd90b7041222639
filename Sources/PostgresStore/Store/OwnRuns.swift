import Synchronization

/// The ids of the runs that this store recorded last, by which it knows its own commits from others' when all are told.
final class OwnRuns: Sendable {
    private static let maximum = 4096

    private struct State {
        var ids: Set<Int64> = []
        /// The ids in the order in which they came, in a ring.
        var ring: [Int64] = []
        var next = 0
    }

    private let state = Mutex(State())

    func note(_ id: Int64) {
        state.withLock { state in
            state.ids.insert(id)
            if state.ring.count < Self.maximum {
                state.ring.append(id)
            } else {
                state.ids.remove(state.ring[state.next])
                state.ring[state.next] = id
                state.next = (state.next + 1) % Self.maximum
            }
        }
    }

    func contains(_ id: Int64) -> Bool { state.withLock { $0.ids.contains(id) } }
}
