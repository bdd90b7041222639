import FeedModel
package import Foundation

/// Permissions to exceed the limits of changes, one a source: `tributary_acceptance`.
package struct Acceptances: LedgerPart {
    let ledger: Ledger

    /// Adds permissions. Each replaces the source's former one.
    package func add(_ acceptances: [Acceptance]) throws {
        for acceptance in acceptances {
            try session.execute(OwnTables.acceptances.upsert(of: [acceptance], dialect.tables))
        }
    }

    /// Withdraws the permissions that are valid at a time.
    ///
    /// - Returns: the sources that had one.
    package func withdraw(_ sources: [String], at now: Date) throws -> [String] {
        let withdrawn = try session.all(
            """
            DELETE FROM \(dialect.acceptance)
            WHERE \(dialect.isAmong("source", sources)) AND until > \(bind: now) RETURNING source
            """
        ) { $0.string(0) }
        return sources.filter(Set(withdrawn).contains)
    }

    /// Returns the permission of a source that is valid at a time.
    ///
    /// - Parameter locks: true to lock it until the transaction ends, so that it is not withdrawn meanwhile.
    package func acceptance(of source: String, at now: Date, locks: Bool = false) throws -> Acceptance? {
        try session.first(
            """
            SELECT \(columns(OwnTables.acceptances.reader)) FROM \(dialect.acceptance) AS a
            WHERE source = \(bind: source) AND until > \(bind: now)\(locks ? dialect.lock("a") : "")
            """
        ) { try read(OwnTables.acceptances.reader, $0) }
    }

    /// Returns the permissions that are valid at a time, by their sources.
    package func all(at now: Date) throws -> [String: Acceptance] {
        try session.all(
            "SELECT \(columns(OwnTables.acceptances.reader)) FROM \(dialect.acceptance) WHERE until > \(bind: now)"
        ) { try read(OwnTables.acceptances.reader, $0) }.reduce(into: [:]) { $0[$1.source] = $1 }
    }

    /// Returns the statement that ends or moves the permission of a source; nil if the permission stays.
    ///
    /// - Parameter run: the number of the run that is being recorded.
    func change(_ commit: Commit, run: SQLText) -> SQLText? {
        let isOfSource: SQLText = "source = \(bind: commit.report.source)"
        // A commit without changes leaves a permission in advance to the next one.
        let isUsed = commit.acceptance != .ends || commit.report.counts.changed > 0
        return switch isUsed ? commit.acceptance : .endsForBlockedRun {
        case .none: nil
        case .ends: "DELETE FROM \(dialect.acceptance) WHERE \(isOfSource)"
        case .endsForBlockedRun: "DELETE FROM \(dialect.acceptance) WHERE \(isOfSource) AND run IS NOT NULL"
        case .movesToRun: "UPDATE \(dialect.acceptance) SET run = \(run) WHERE \(isOfSource) AND run IS NOT NULL"
        }
    }
}

extension Ledger {
    package var acceptances: Acceptances { Acceptances(ledger: self) }
}
