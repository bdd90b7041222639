package import FeedDeclarations
package import FeedModel

extension TributaryConfiguration {
    /// Removes the kept bodies of a source that nobody runs.
    ///
    /// - Returns: the paths of those that could not be removed.
    package func removeBodies(of source: String) -> [String] {
        BodyFolder(path: bodyFolder).tidy(source, keeping: [])
    }

    /// Returns the counts of what a blocked run would have changed; nil where they are not known.
    package func blockedCounts(of run: RunReport) -> MergeCounts? {
        BodyFolder(path: bodyFolder).blockedRun(of: run.source).flatMap { $0.isRecorded(as: run) ? $0.counts : nil }
    }

    /// Returns the changes that a blocked run would have made, the largest first. Reads a file of some megabytes at most.
    ///
    /// - Returns: nil where they are not known: the run was another daemon's, or of an earlier release.
    package func review(of run: RunReport) -> ChangeReview? {
        let bodies = BodyFolder(path: bodyFolder)
        guard let blocked = bodies.blockedRun(of: run.source), blocked.isRecorded(as: run),
            let review = bodies.review(of: run.source), review.digest == blocked.shown
        else { return nil }
        return review
    }
}
