import FeedModel
package import Foundation
package import TributaryEngine

/// A clock that stands still until a test moves it. Whoever sleeps wakes when the time has come.
package final class ManualClock: RunClock {
    private struct Sleeper {
        var id: Int
        var due: Date
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Date
        var uptime = Duration.zero
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    private let state: Mutex<State>

    package init(_ now: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        state = Mutex(State(now: now))
    }

    package func now() -> Date { state.withLock { $0.now } }

    /// When those who sleep will wake.
    package var wakes: [Date] { state.withLock { $0.sleepers.map(\.due) } }

    package var uptime: Duration { state.withLock { $0.uptime } }

    /// - Parameter seconds: time that passes; where it is below zero, the clock is set back.
    package func advance(by seconds: Double) {
        let due = state.withLock { state in
            state.now += seconds
            state.uptime += .seconds(max(0, seconds))
            let due = state.sleepers.filter { $0.due <= state.now }
            state.sleepers.removeAll { $0.due <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    package func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        let end = uptime + duration
        let task = Task {
            // The task may begin later than it was created.
            try await sleep(for: max(.zero, end - uptime))
            action()
        }
        return Alarm { task.cancel() }
    }

    package func sleep(for duration: Duration) async throws {
        let due = now() + duration.seconds
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if due <= state.now { return .success(()) }
                    state.sleepers.append(Sleeper(id: id, due: due, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper: Sleeper? = state.withLock { state in
                if let index = state.sleepers.firstIndex(where: { $0.id == id }) {
                    return state.sleepers.remove(at: index)
                }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
