package import Foundation

/// The retention of old runs: their rows, their part of the changelog, and their before-images.
package struct RunRetention: LedgerPart {
    let ledger: Ledger

    /// The most runs that are deleted at once.
    private static let mostRuns = 1_000
    /// The most ids of changes, or of a history's entries, that are deleted at once.
    private static let mostIDs = 10_000

    /// Deletes old runs, their part of the changelog, and the records that they left out, a bounded number each time. Skips rows that another
    /// transaction has locked.
    ///
    /// Runs are deleted in the order of their numbers, in which they are read. An old run stays as long as a run with a
    /// lower number is not old.
    ///
    /// The last of the old runs stays: it shows a reader that has read up to it that nothing after it was deleted.
    /// The last run and the last change of all stay, because new ids follow theirs: otherwise a reader would take new
    /// ones for those that it has read.
    ///
    /// - Parameter date: the time; runs that ended before it are old.
    /// - Returns: true if there may be more.
    package func forgetRuns(before date: Date) throws -> Bool {
        let oldest: SQLText = "SELECT id, finished_at FROM \(dialect.run) ORDER BY id LIMIT \(Self.mostRuns + 1)"
        let runs = try session.execute(
            """
            DELETE FROM \(dialect.run) WHERE id IN (
                SELECT r.id FROM \(dialect.run) r
                WHERE r.id < (
                    SELECT max(o.id) FROM (\(oldest)) o
                    WHERE o.id < coalesce(
                        (SELECT min(y.id) FROM (\(oldest)) y WHERE y.finished_at >= \(bind: date)), o.id + 1))
                ORDER BY r.id LIMIT \(Self.mostRuns)\(dialect.lock("r", skips: true)))
            """)
        let changes = try forgetRows(
            of: dialect.change, id: "id", run: "run", if: " AND c.id < (SELECT max(id) FROM \(dialect.change))")
        let rejected = try forgetRows(of: dialect.rejected, id: "id", run: "run")
        return runs == Self.mostRuns || changes > 0 || rejected > 0
    }

    /// Deletes entries of a history whose runs were deleted, a bounded number each time.
    ///
    /// - Parameter date: only entries from before it are deleted; nil for all.
    /// - Returns: their number; 0 at the end.
    package func forgetEntries(of history: String, before date: Date? = nil) throws -> Int {
        let isOld: SQLText =
            date.map { " AND oldest.time < \(bind: $0) AND c.\(HistoryTable.time) < \(bind: $0)" } ?? ""
        return try forgetRows(
            of: history, id: HistoryTable.id, run: HistoryTable.run, with: ", \(HistoryTable.time) AS time", if: isOld)
    }

    /// - Parameters:
    ///   - columns: further columns of the oldest row, for the condition.
    ///   - isForgotten: a further condition on a row, `c`.
    private func forgetRows(
        of table: String, id: String, run: String, with columns: String = "", if isForgotten: SQLText = ""
    ) throws -> Int {
        try session.execute(
            """
            DELETE FROM \(table) WHERE \(id) IN (
                SELECT c.\(id) FROM (SELECT min(id) AS first FROM \(dialect.run)) kept
                CROSS JOIN (SELECT \(id) AS id, \(run) AS run\(columns) FROM \(table) ORDER BY \(id) LIMIT 1) oldest
                CROSS JOIN \(table) c
                WHERE oldest.run < kept.first AND c.\(run) < kept.first AND c.\(id) < oldest.id + \(Self.mostIDs)\(isForgotten)\(dialect.lock("c", skips: true)))
            """)
    }
}

extension Ledger {
    package var retention: RunRetention { RunRetention(ledger: self) }
}
