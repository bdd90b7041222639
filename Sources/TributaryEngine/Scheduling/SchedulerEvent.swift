import FeedDeclarations
import FeedModel
import FeedStore
import Foundation

/// Everything that moves the scheduler, in one stream.
enum SchedulerEvent: Sendable {
    /// Some source may be due.
    case due
    /// Somebody asks for these sources, or for all (nil), now.
    case refresh([String]?)
    /// The configuration has changed.
    case reload(TributaryConfiguration)
    /// Somebody wants to know whether the loop still turns.
    case heartbeat
    /// There is a place at this origin, or a slot for a run, where there was none.
    case free(String)
    /// A run has ended, when the clock said so.
    case finished(RunReport, at: Date)
}
