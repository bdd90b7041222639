import FeedDeclarations
import FeedModel
import FeedStores
import Foundation

/// The events that drive the scheduler, in one stream.
enum SchedulerEvent: Sendable {
    /// Some source may be due.
    case due
    /// A request to refresh these sources, or all (nil), now.
    case refresh([String]?)
    /// The configuration has changed.
    case reload(TributaryConfiguration)
    /// These sources have become this daemon's. The states are those of sources that ever ran.
    case own(Set<String>, [String: SourceState])
    /// These sources are another daemon's now.
    case giveUp(Set<String>)
    /// The states of sources that another process has run.
    case take([String: SourceState])
    /// A request for a sign that the loop still runs.
    case heartbeat
    /// A place at this origin, or a slot for a run, has become free.
    case free(String)
    /// A run has ended, at this time by the clock.
    case finished(RunReport, at: Date)
}
