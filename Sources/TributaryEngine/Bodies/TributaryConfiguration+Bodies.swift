package import FeedConfiguration
package import FeedModel
package import FeedStores

extension TributaryConfiguration {
    /// Removes the kept bodies of a source that is not running.
    ///
    /// - Returns: the paths of files that could not be removed.
    package func removeBodies(of source: String) -> [String] {
        BodyFolder(path: bodyFolder).tidy(source, keeping: [])
    }

    /// Returns the counts of the changes of a blocked run; nil if unknown.
    package func blockedCounts(of run: RunReport) -> MergeCounts? {
        BodyFolder(path: bodyFolder).blockedRun(of: run.source).flatMap { $0.holds(for: run) ? $0.counts : nil }
    }

    /// Returns the counts of the rows that a run has changed, or that a blocked run would have changed.
    ///
    /// - Returns: nil for a blocked run of another daemon, or one whose documents are no longer kept.
    package func shownCounts(of run: RunReport) -> MergeCounts? {
        run.outcome == .blocked ? blockedCounts(of: run) : run.counts
    }

    /// Returns the changes that a blocked run would have made, the largest first. Reads a file of at most a few
    /// megabytes.
    ///
    /// - Returns: nil if unknown, for a run of another daemon or of an earlier release.
    package func review(of run: RunReport) -> ChangeReview? {
        let bodies = BodyFolder(path: bodyFolder)
        guard let blocked = bodies.blockedRun(of: run.source), blocked.holds(for: run),
            let review = bodies.review(of: run.source), review.digest == blocked.shown
        else { return nil }
        return review
    }

    /// Returns the blocked run of a source that waits with the documents and changes of a run: this run, or a later one
    /// that had the same; nil if none does.
    package func waitingRun(for run: Int64, of source: String, in store: any MainStore) throws -> Int64? {
        guard let waiting = try store.read({ try $0.runs.blocked(of: source) }) else { return nil }
        if waiting.number == run { return run }
        guard let former = try store.read({ try $0.runs.run(run) }), former.source == source,
            let blocked = BodyFolder(path: bodyFolder).blockedRun(of: source), blocked.isRecorded(as: waiting),
            blocked.holds(for: former)
        else { return nil }
        return waiting.number
    }
}
