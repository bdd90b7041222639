import FeedDeclarations
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
    /// A run has ended, at this time by the clock.
    ///
    /// - Parameter wasSlow: true if a server was slow.
    case finished(RunReport, at: Date, wasSlow: Bool)
}
