package import FeedModel
package import Foundation

/// What commits have replaced, and the way back.
package protocol StoreHistory: AnyObject, Sendable {
    /// Brings the rows that a source's runs have changed back to their former values, and records that as a run, in
    /// one transaction.
    ///
    /// - Parameter seconds: the duration so far, called when the rows are as they were.
    /// - Returns: the report as it was recorded.
    /// - Throws: ``StoreError`` naming rows that something else has changed since; the store is then unchanged.
    func undo(_ undo: Undo, seconds: @escaping @Sendable () -> Double) async throws -> RunReport

    /// Does as an undo would, reports each change, and takes everything back.
    func planUndo(_ undo: Undo, onChange: @escaping (PlannedChange) throws -> Void) throws -> MergeCounts

    /// Returns changes of a run with their rows before and after. A row before the change is what the history keeps; a row after
    /// it what the history shows, or else the row as it is, unless the changelog has a later change of it.
    ///
    /// - Parameter keys: the columns by which the run's source tells rows apart, by their tables' names in lower case; the
    ///   primary key where there are none.
    func withImages(_ changes: [ChangelogEntry], of run: Int64, keys: [String: [String]]) throws -> [ChangelogEntry]

    /// Reports the rows that runs have changed: run by run, and within a run by table and in the order of the history.
    func changes(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws
}

/// A run that has committed rows.
package struct CommittedRun: Sendable, Equatable {
    package var number: Int64
    package var startedAt: Date
    package var counts: MergeCounts
    /// True if before-images were kept.
    package var hasHistory: Bool
    /// The run to which it has brought the rows back, where it has undone others.
    package var restoredRun: Int64?

    package var changedRows: Bool { counts.changed > 0 }
}
