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
    /// A caller waits for a pass of the loop, or for its end.
    case heartbeat(CheckedContinuation<Void, Never>)
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
        var isOver = false
    }

    private let state = Mutex(State())

    /// - Returns: false if the loop has ended.
    @discardableResult
    func add(_ event: SchedulerEvent) -> Bool {
        let (reader, isOver) = state.withLock { state in
            if !state.isOver { state.events.append(event) }
            return (state.reader.take(), state.isOver)
        }
        reader?.resume()
        return !isOver
    }

    /// Returns the events since the last call, at least one; nil if the task is cancelled.
    func next() async -> [SchedulerEvent]? {
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
        return Task.isCancelled ? nil : take()
    }

    /// Takes no more events, and returns those that are left.
    func end() -> [SchedulerEvent] {
        state.withLock { $0.isOver = true }
        return take()
    }

    private func take() -> [SchedulerEvent] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }
}
