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
    /// The sources whose last run failed without a record of it in the store.
    private let unrecordedFailures = Mutex<Set<String>>([])

    /// Returns the number of consecutive processes that died during runs of a source.
    ///
    /// - Parameter state: the source's state in the store.
    func deaths(before state: SourceState) -> Int {
        deaths.withLock { $0[state.source] } ?? state.attempts
    }

    /// Notes that a run begins, after a number of deaths.
    func begin(_ source: String, after deaths: Int) { self.deaths.withLock { $0[source] = deaths } }

    /// Notes that a run has failed, and that its end could not be stored: the due time in the store is that of a run before.
    func noteUnrecordedFailure(of source: String) { _ = unrecordedFailures.withLock { $0.insert(source) } }

    /// Returns true if the last run failed without a record of it: it is tried again, whatever due time the store has.
    func hasUnrecordedFailure(_ source: String) -> Bool { unrecordedFailures.withLock { $0.contains(source) } }

    /// Notes that a run has ended, and that its end is stored.
    func end(_ source: String) {
        deaths.withLock { $0[source] = nil }
        _ = unrecordedFailures.withLock { $0.remove(source) }
    }
}
