import FeedConfiguration
import FeedModel
import FeedStores
import Foundation

/// The events that drive the scheduler.
enum SchedulerEvent: Sendable {
    /// A source may be due.
    case due
    /// Sources are to be refreshed now; all of them for nil.
    case refresh([String]?)
    /// The configuration has changed.
    case reload(TributaryConfiguration)
    /// These sources now belong to this daemon. The states are those of sources that have run before.
    case assign(Set<String>, [String: SourceState])
    /// These sources now belong to another daemon.
    case release(Set<String>)
    /// The states of sources that another process has run.
    case updateDueTimes([String: SourceState])
    /// A request for a heartbeat of the loop.
    case heartbeat
    /// Permits have become free at these origins. The origins of a host come together, in varying order.
    case free([Origin])
    /// The first server of a source's run has answered.
    case answered(String)
    /// A run has ended, at this time by the clock.
    case finished(RunReport, at: Date)
}

/// The events that the scheduler's loop has not handled yet. One pass takes all of them, so that hundreds of runs that end
/// together cost one look at the sources that are due.
final class SchedulerEvents: Sendable {
    private struct State {
        var events: [SchedulerEvent] = []
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func add(_ event: SchedulerEvent) {
        let reader = state.withLock { state in
            state.events.append(event)
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Returns the events since the last call, at least one; perhaps none if the task is cancelled.
    func next() async -> [SchedulerEvent] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.events.isEmpty, !Task.isCancelled else { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume()
        }
        return state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }
}

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
