package import FeedDeclarations
package import FeedModel

extension TributaryConfiguration {
    /// Removes the kept bodies of a source that is not running.
    ///
    /// - Returns: the paths of files that could not be removed.
    package func removeBodies(of source: String) -> [String] {
        BodyFolder(path: bodyFolder).tidy(source, keeping: [])
    }

    /// Returns the counts of the changes of a blocked run; nil if unknown.
    package func blockedCounts(of run: RunReport) -> MergeCounts? {
        BodyFolder(path: bodyFolder).blockedRun(of: run.source).flatMap { $0.isRecorded(as: run) ? $0.counts : nil }
    }

    /// Returns the changes that a blocked run would have made, the largest first. Reads a file of at most a few
    /// megabytes.
    ///
    /// - Returns: nil if unknown, for a run of another daemon or of an earlier release.
    package func review(of run: RunReport) -> ChangeReview? {
        let bodies = BodyFolder(path: bodyFolder)
        guard let blocked = bodies.blockedRun(of: run.source), blocked.isRecorded(as: run),
            let review = bodies.review(of: run.source), review.digest == blocked.shown
        else { return nil }
        return review
    }
}
