package import FeedModel
package import FeedStaging

/// The one place where a main store's rows are written.
package protocol StoreCommits: AnyObject, Sendable {
    /// Takes the right to run a source, which one run in one process holds at a time.
    ///
    /// - Parameter origin: the server that the run asks first; nil if it asks none. Daemons that share the store know it
    ///   from then on, even if they do not declare the source.
    /// - Returns: nil while another run holds it.
    /// - Throws: ``StoreError`` if that cannot be found out.
    func claim(_ source: String, at origin: String?) throws -> (any SourceClaim)?

    /// Returns those of the sources that a run of any process holds the right to run. Writes nothing.
    ///
    /// - Throws: ``StoreError`` if that cannot be found out.
    func claimed(among sources: [String]) throws -> Set<String>

    /// Creates the context in which a source's run stages its rows. Only the holder of the source's claim may call it.
    func makeWorkerContext(source: String) -> WorkerContext

    /// Removes the scratch databases left by runs that a crash cut off. Those of running sources are kept.
    func removeAbandonedScratch() throws

    /// Records a run that has no rows to merge: unchanged, discarded or cancelled. Writes it together with others that wait.
    ///
    /// - Throws: ``StoreError``; the store is then unchanged.
    func record(_ commit: Commit) async throws

    /// Merges the staged rows of a run, and records the run, in one transaction. Cancelling the task does not stop a
    /// commit that has begun; `stop` does.
    ///
    /// - Parameters:
    ///   - stop: lets another thread stop the commit.
    ///   - seconds: the run's duration so far, called when the rows have been merged.
    /// - Returns: the report as it was recorded.
    /// - Throws: ``StoreError``; the store is then unchanged.
    func commit(
        _ commit: Commit, merging stack: StagedStack, stop: Stop,
        seconds: @escaping @Sendable () -> Double
    ) async throws -> RunReport

    /// Merges the staged rows of a run as a commit would, reports each change, and takes everything back.
    ///
    /// - Throws: ``StoreError`` for an error that would discard the run, and the errors of `onChange`.
    func plan(
        _ stack: StagedStack, mirrors: [MirroredRows], checkMirrors: @escaping Commit.MirrorCheck,
        limits: [ScopedRows: ChangeLimits], retention: Retention, source: String,
        onChange: @escaping (PlannedChange) throws -> Void
    ) throws -> MergeCounts

    /// Merges and keeps the staged rows as a commit would, without the record of a run. For a store that is used for
    /// trials.
    ///
    /// - Throws: ``StoreError`` for an error that would discard a run; the store is then unchanged.
    func load(_ stack: StagedStack) throws
}

extension StoreCommits {
    /// Takes the right to run a source, for work that asks no server.
    ///
    /// - Returns: nil while another run holds it.
    /// - Throws: ``StoreError`` if that cannot be found out.
    package func claim(_ source: String) throws -> (any SourceClaim)? { try claim(source, at: nil) }
}

/// The right to run a source.
package protocol SourceClaim: Sendable {
    /// Checks, without asking anybody, that no other run can have taken the right over. To be called before each request.
    ///
    /// - Throws: ``StoreError`` if one may have.
    func check() throws

    /// Gives the right up. Blocks its thread, and has no effect the second time.
    func unlock()

    /// Takes note that a commit of this process has given the right up, if it is one that a commit gives up.
    ///
    /// - Returns: false if ``unlock()`` has still to be called.
    func endedWithCommit() -> Bool
}

extension SourceClaim {
    package func endedWithCommit() -> Bool { false }
}
