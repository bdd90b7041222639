import FeedModel
import FeedStaging
import FeedStores

/// The runs of this process whose end is not in the store. As the process lives, it did not die during them, even if
/// their end could not be stored.
///
/// The store counts runs that began and did not end. If another process began such a run, and the source's lock is
/// free, that process died during the run.
final class RunAttempts: Sendable {
    /// The number of processes that had died before this process's run, by source.
    private let deaths = Mutex<[String: Int]>([:])
    /// The sources whose last run failed, although the store does not know it, and that are to be tried again.
    private let owed = Mutex<Set<String>>([])

    /// Returns the number of consecutive processes that died during runs of a source.
    ///
    /// - Parameter state: the source's state in the store.
    func deaths(before state: SourceState) -> Int {
        deaths.withLock { $0[state.source] } ?? state.attempts
    }

    /// Notes that a run begins, after a number of deaths.
    func begin(_ source: String, after deaths: Int) { self.deaths.withLock { $0[source] = deaths } }

    /// Notes that a run has failed, and that its end could not be stored: the due time in the store is that of a run before.
    func owe(_ source: String) { _ = owed.withLock { $0.insert(source) } }

    /// Returns true if a run is to be tried again whatever the store says of its due time.
    func isOwed(_ source: String) -> Bool { owed.withLock { $0.contains(source) } }

    /// Notes that a run has ended, and that its end is stored.
    func end(_ source: String) {
        deaths.withLock { $0[source] = nil }
        _ = owed.withLock { $0.remove(source) }
    }
}
