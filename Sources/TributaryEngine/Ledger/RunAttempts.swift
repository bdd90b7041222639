import FeedModel
import FeedStaging
import FeedStores
import Locking

/// The runs that this process began and whose end is not in the store. If the process goes on, it has not died during
/// them, even if the store could not be told of their end.
///
/// The store counts runs that began and did not end. If another process began one, and the source's lock shows that it
/// is over, that process died during it.
final class RunAttempts: Sendable {
    /// The number of processes that had died before the run that this one began, by source.
    private let deaths = Mutex<[String: Int]>([:])

    /// Returns how many processes in a row have died during the runs of a source, before another run begins.
    ///
    /// - Parameter state: the source's state in the store.
    func deaths(before state: SourceState) -> Int {
        deaths.withLock { $0[state.source] } ?? state.attempts
    }

    /// Notes that a run begins, with this many deaths before it.
    func begin(_ source: String, after deaths: Int) { self.deaths.withLock { $0[source] = deaths } }

    /// Notes that a run has ended, and that the store knows.
    func end(_ source: String) { deaths.withLock { $0[source] = nil } }
}
