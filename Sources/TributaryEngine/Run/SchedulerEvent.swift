import FeedConfiguration
import FeedModel
import FeedStores
import Foundation

/// The events that drive the scheduler, in one stream.
enum SchedulerEvent: Sendable {
    /// A source may be due.
    case due
    /// Requests to refresh sources wait.
    case refresh
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

/// Requests to refresh sources that the scheduler's loop has not handled yet. They wake the loop once, so that many
/// requests do not delay other events.
final class RefreshRequests: Sendable {
    enum Pending: Sendable, Equatable {
        case all
        case sources(Set<String>)
    }

    private let pending = Mutex<Pending?>(nil)

    /// Adds a request for sources, or for all (nil).
    ///
    /// - Returns: true for the first request since the last ``take()``.
    func add(_ sources: [String]?) -> Bool {
        pending.withLock { pending in
            let former = pending
            switch (former, sources) {
            case (.all, _), (_, nil): pending = .all
            case (.sources(let known), let more?): pending = .sources(known.union(more))
            case (nil, let more?): pending = .sources(Set(more))
            }
            return former == nil
        }
    }

    /// Returns and removes the requests; nil without one.
    func take() -> Pending? {
        pending.withLock { pending in
            defer { pending = nil }
            return pending
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
