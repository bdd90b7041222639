import Locking

/// The callers that wait for a pass of a loop. The end of the loop resumes them.
final class Heartbeat: Sendable {
    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isOver = false
    }

    private let state = Mutex(State())

    /// Returns after a pass of the loop, or after its end.
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
