package import FeedModel
package import Foundation

/// The state of sources, requests and runs in a main store.
package protocol StoreLedger: AnyObject, Sendable {
    /// Returns the states of all sources that ever ran, by name.
    func sourceStates() throws -> [String: SourceState]

    func sourceState(_ source: String) throws -> SourceState

    /// Returns the states of a source and of its requests, the latter by key.
    func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState])

    /// Deletes runs that began before a date, a bounded number, with their part of the changelog and of the histories, in a
    /// transaction of its own.
    ///
    /// - Returns: true if there may be more of them.
    func forgetRuns(before date: Date) throws -> Bool

    /// Returns the last runs of one source or of all, the latest first.
    func runs(of source: String?, failed: Bool, limit: Int) throws -> [RunReport]

    /// Returns a run with the reports of its requests; nil if it is forgotten.
    func recordedRun(_ number: Int64) throws -> RunReport?

    /// Returns the sums of a source's runs since a time, in consecutive spans of time. Spans without a run are left
    /// out.
    ///
    /// - Parameter seconds: the length of a span.
    func figures(of source: String, from start: Date, spansOf seconds: Double) throws -> [RunFigures]

    /// Returns what the last runs of several sources did, by source. The number of statements does not grow with theirs.
    ///
    /// - Parameters:
    ///   - sources: the sources, with the times at which their last commits ended; at most 400.
    ///   - limit: the most runs of each.
    ///   - start: the beginning of the time whose changes are counted.
    func recentRuns(
        of sources: [(name: String, lastCommit: Date?)], limit: Int, changedSince start: Date
    ) throws -> [String: RecentRuns]

    /// Returns the runs of a source before and after one.
    func neighbours(of run: Int64, of source: String) throws -> (previous: Int64?, next: Int64?)

    /// Returns the first good refresh of a source after a run, and the number of the first commit after it that changed
    /// rows.
    func following(_ run: Int64, of source: String) throws -> (refresh: RunReport?, change: Int64?)

    /// Returns the time at which the first run of a source began that is still known.
    func firstRun(of source: String) throws -> Date?

    /// Notes that a run of a source starts now. A process that starts before the run has ended does not start another
    /// at once, and knows that the process before it died during the run.
    ///
    /// - Parameters:
    ///   - number: the number of consecutive runs of the source that have begun and not ended, including this one.
    ///   - wait: seconds from `now` until such a process asks again; nil leaves the due time unchanged.
    ///   - declared: the declaration that the run follows.
    func noteAttempt(_ source: String, number: Int, wait: Double?, declared: String, now: Date) async throws

    /// Notes the reason for which a source is not run any more.
    func notePause(_ source: String, error: String, note: String, now: Date) async throws

    /// Pauses sources: nothing is fetched for them until ``resume(_:)``.
    ///
    /// - Returns: the sources that were not paused so before.
    func pause(_ sources: [String], now: Date) throws -> [String]

    /// Ends the pause of sources: by an operator, after deaths of the process during their runs, and after an undo.
    ///
    /// - Returns: the sources that were paused.
    func resume(_ sources: [String]) throws -> [String]

    /// Makes sources due whose tables have been changed to their declarations, except during a wait that a server
    /// requested. The error of a discarded run is forgotten.
    func makeDue(_ sources: [String], now: Date) throws

    /// Returns the run of a source that is blocked and waits to be accepted; nil if none does.
    func blockedRun(of source: String) throws -> RunReport?

    /// Stores permissions to exceed the limits, one a source. Each replaces the source's former one.
    func accept(_ acceptances: [Acceptance]) throws

    /// Returns the permission of a source that is valid at a time.
    func acceptance(of source: String, at now: Date) throws -> Acceptance?

    /// Returns the permissions that are valid at a time, by their sources.
    func acceptances(at now: Date) throws -> [String: Acceptance]

    /// Cuts due times, and the waits that hosts asked for, to the waits that were decided when they were stored. A
    /// clock that was wrong at that moment may have put them years ahead.
    ///
    /// - Parameter sources: the only ones whose due times are cut, and no waits of hosts; nil for all.
    func cutWaits(of sources: [String]?, to now: Date) throws

    /// Does the same as ``cutWaits(of:to:)`` for all sources without blocking the caller's thread, for a clock that was set back from
    /// `former` to `now`. A time stored by the former clock keeps its remaining wait.
    func cutWaits(to now: Date, setBackFrom former: Date) async throws

    /// Makes sources that are switched off due when they are switched on again, even if they were gone.
    func forgetGone(_ sources: [String]) throws

    /// Returns the origins that asked for a pause, with the end of each pause.
    func busyHosts() throws -> [String: Date]
}

/// The identity of a run that a transaction records.
package struct RecordedRun: Sendable {
    package var id: Int64
    /// The transaction's id (`xid8`); empty if transactions have none.
    package var transaction: String
    package var source: String
    package var startedAt: Date
    /// The first id that a row of its part of the changelog can have; nil for a run that merges nothing.
    package var firstChange: Int64?
    /// The last id of the changelog before the run.
    package var lastChange: Int64 { (firstChange ?? 1) - 1 }

    package init(id: Int64, transaction: String, source: String, startedAt: Date, firstChange: Int64? = nil) {
        self.id = id
        self.transaction = transaction
        self.source = source
        self.startedAt = startedAt
        self.firstChange = firstChange
    }
}
