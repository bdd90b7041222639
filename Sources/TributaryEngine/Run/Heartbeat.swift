import Locking

/// The callers that wait for a sign of life from a loop. When the loop has ended, nobody waits any more.
final class Heartbeat: Sendable {
    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isOver = false
    }

    private let state = Mutex(State())

    /// Returns when an answer has come, or when none can come any more.
    func wait(_ announce: () -> Void) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiting.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() } else { announce() }
        }
    }

    func beat() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func end() {
        state.withLock { $0.isOver = true }
        beat()
    }
}
