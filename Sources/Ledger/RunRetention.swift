package import Foundation
import StoreSQL

/// What is kept of runs that are over: their rows, and their part of the changelog.
package struct RunRetention: LedgerPart {
    let ledger: Ledger

    /// The most runs that are deleted at once.
    private static let mostRuns = 100

    /// Deletes old runs, and their part of the changelog, a bounded number each time. Skips rows that another transaction
    /// has locked.
    ///
    /// The last of the old runs stays: a reader that has read up to it knows so that nothing after it is forgotten. The
    /// last run and the last change of all stay, as ids are given after theirs: a reader that has read so far would take
    /// what comes for what was.
    ///
    /// - Parameters:
    ///   - date: the time before which runs are old.
    ///   - most: the most ids of changes that are deleted.
    package func forget(before date: Date, changes most: Int) throws {
        let runs: SQLText = """
            DELETE FROM \(dialect.run) WHERE id IN (
                SELECT r.id FROM \(dialect.run) r
                WHERE r.started_at < (SELECT max(started_at) FROM \(dialect.run) WHERE started_at < \(bind: date))
                ORDER BY r.started_at LIMIT \(Self.mostRuns)\(dialect.lock("r", skips: true)))
            AND id < (SELECT max(id) FROM \(dialect.run))
            """
        // A statement does not see what its WITH clause deletes.
        let kept = dialect.combinesWrites ? " WHERE id NOT IN (SELECT id FROM forgotten)" : ""
        let changes: SQLText = """
            DELETE FROM \(dialect.change) WHERE id IN (
                SELECT c.id FROM (SELECT min(id) AS first FROM \(dialect.run)\(kept)) kept
                CROSS JOIN (SELECT id, run FROM \(dialect.change) ORDER BY id LIMIT 1) oldest
                CROSS JOIN \(dialect.change) c
                WHERE oldest.run < kept.first AND c.run < kept.first AND c.id < oldest.id + \(bind: most)
                AND c.id < (SELECT max(id) FROM \(dialect.change))\(dialect.lock("c", skips: true)))
            """
        if dialect.combinesWrites {
            try session.execute("WITH forgotten AS (\(runs) RETURNING id) \(changes)")
        } else {
            try session.execute(runs)
            try session.execute(changes)
        }
    }
}

extension Ledger {
    package var retention: RunRetention { RunRetention(ledger: self) }
}
