package import FeedModel

/// The runs of a main store in the order of their commits, and their changes.
package protocol StoreChangelog: AnyObject, Sendable {
    /// Returns the first runs after a place.
    ///
    /// - Parameter changing: true for only those that have changed rows.
    func runs(after position: RunPosition, limit: Int, changing: Bool) throws -> [ChangelogRun]

    /// Returns the position after all readable runs.
    func lastPosition() throws -> RunPosition

    /// Returns a run; nil where it is forgotten.
    func run(_ id: Int64) throws -> ChangelogRun?

    /// True if runs after a place are recorded that cannot be read yet, as an older transaction is in progress.
    func isHeldUp(after position: RunPosition) throws -> Bool

    /// Returns the first rows of a run's part of the changelog, by their ids: up to a number, and fewer where their keys are
    /// long. None is left where there is none.
    func changes(of run: ChangelogRun, after id: Int64, limit: Int) throws -> [ChangelogEntry]

    /// Returns the ids of the changelog's first and last row; nil where it is empty.
    func changelogBounds() throws -> ClosedRange<Int64>?

    /// Returns the run that wrote a row of the changelog; nil where there is no such row any more.
    func run(ofChange id: Int64) throws -> Int64?

    /// Returns the sources whose last run was not good.
    func failingSources() throws -> [FailingSource]
}

extension StoreChangelog {
    /// The bytes of keys, about, after which no further row is read at once.
    package static var mostBytesAtOnce: Int { 1 << 20 }

    /// Returns the first runs after a position, and whether others between the two have been deleted.
    ///
    /// The oldest runs are forgotten first. So nothing after the place is forgotten as long as the store has a run that is not
    /// after it; of those that are old enough, the last one stays. Gaps between numbers tell nothing: on a server,
    /// numbers are lost without anything being forgotten.
    ///
    /// - Parameter changing: true for only the runs that have changed rows.
    package func page(
        after position: RunPosition, limit: Int, changing: Bool = false
    ) throws -> (runs: [ChangelogRun], hasForgotten: Bool) {
        let runs = try runs(after: position, limit: limit, changing: changing)
        // A run whose number follows at once needs no look.
        guard changing || !runs.isEmpty, position.run > 0, runs.first?.position.run != position.run + 1,
            let oldest = try self.runs(after: .start, limit: 1).first
        else { return (runs, false) }
        return (runs, oldest.position > position)
    }

    package func runs(after position: RunPosition, limit: Int) throws -> [ChangelogRun] {
        try runs(after: position, limit: limit, changing: false)
    }
}
