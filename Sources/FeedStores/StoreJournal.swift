package import FeedModel

/// The runs of a main store in the order of their positions, and their row changes.
package protocol StoreJournal: AnyObject, Sendable {
    /// Returns the first runs after a place.
    func runs(after position: RunPosition, limit: Int) throws -> [JournalRun]

    /// Returns the position after all readable runs.
    func lastPosition() throws -> RunPosition

    /// Returns a run; nil if it is forgotten.
    func run(_ id: Int64) throws -> JournalRun?

    /// True if runs after a place are recorded that cannot be read yet, as an older transaction is in progress.
    func isHeldUp(after position: RunPosition) throws -> Bool

    /// Returns the first rows of a run's part of the journal, by their ids: up to a number, and fewer where their keys are
    /// long. None is left where there is none.
    func changes(of run: JournalRun, after id: Int64, limit: Int) throws -> [JournalChange]

    /// Returns the ids of the journal's first and last row; nil if it is empty.
    func journalBounds() throws -> ClosedRange<Int64>?

    /// Returns the run that wrote a row of the changelog; nil if the row no longer exists.
    func run(ofChange id: Int64) throws -> Int64?

    /// Returns the sources whose last run was not good.
    func failingSources() throws -> [FailingSource]
}

extension StoreJournal {
    /// The bytes of keys, about, after which no further row is read at once.
    package static var mostBytesAtOnce: Int { 1 << 20 }

    /// Returns the first runs after a position, and whether others between the two have been deleted.
    ///
    /// The oldest runs are deleted first, and the last of the old ones stays. So nothing after the position has been
    /// deleted while the store has a run that is not after it. Gaps between numbers mean nothing: on a server,
    /// numbers are lost without any deletion.
    package func page(after position: RunPosition, limit: Int) throws -> (runs: [JournalRun], hasForgotten: Bool) {
        let runs = try runs(after: position, limit: limit)
        // A run whose number follows at once needs no look.
        guard let first = runs.first, position.run > 0, first.position.run != position.run + 1,
            let oldest = try self.runs(after: .start, limit: 1).first
        else { return (runs, false) }
        return (runs, oldest.position > position)
    }
}
