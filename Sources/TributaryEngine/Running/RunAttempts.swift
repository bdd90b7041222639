import FeedModel
import FeedStore
import Synchronization

/// Which runs have ended although the store could not be told so: a process that goes on has not died during them.
///
/// The store counts runs that have begun and not ended. What another process has begun, and the source's lock now shows
/// to be over, that process has died of, or during.
final class RunAttempts: Sendable {
    /// How often processes had died before the run that this one has begun, by source.
    private let deaths = Mutex<[String: Int]>([:])

    /// How often in a row processes have died during the runs of a source, before one begins.
    ///
    /// - Parameter state: as the store has it.
    func deaths(before state: SourceState) -> Int {
        deaths.withLock { $0[state.source] } ?? state.attempts
    }

    /// A run begins, with this many deaths before it.
    func begin(_ source: String, after deaths: Int) { self.deaths.withLock { $0[source] = deaths } }

    /// A run has ended, and the store knows.
    func end(_ source: String) { deaths.withLock { $0[source] = nil } }
}
