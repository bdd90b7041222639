import FeedDeclarations
import FeedModel
import FeedStores
import Foundation

/// The events that drive the scheduler, in one stream.
enum SchedulerEvent: Sendable {
    /// Some source may be due.
    case due
    /// There are requests to refresh sources.
    case refresh
    /// The configuration has changed.
    case reload(TributaryConfiguration)
    /// These sources have become this daemon's. The states are those of sources that ever ran.
    case assign(Set<String>, [String: SourceState])
    /// These sources are another daemon's now.
    case release(Set<String>)
    /// The states of sources that another process has run.
    case updateDueTimes([String: SourceState])
    /// A request for a sign that the loop still runs.
    case heartbeat
    /// Permits have become free at these origins, of which each host's come together: of several, none comes first each time.
    case free([Origin])
    /// A run has ended, at this time by the clock.
    ///
    /// - Parameter wasSlow: true where a server sent next to nothing for seconds.
    case finished(RunReport, at: Date, wasSlow: Bool)
}
