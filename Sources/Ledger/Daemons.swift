import FeedModel
import FeedStores
import Foundation
import StoreSQL

/// The daemons that share the store: `tributary_daemon`.
package struct Daemons: LedgerPart {
    let ledger: Ledger

    /// The seconds for which a daemon that is dead remains in the table, as its runs' leases outlive it.
    private static let secondsRemembered = 3 * Leases.seconds

    /// Records that a daemon lives.
    ///
    /// - Returns: true where it is new, or declares or shares differently than before.
    func record(_ daemon: DaemonRecord) throws -> Bool {
        let declared = daemon.declared.fingerprint
        let former = try session.first(
            "SELECT declared, sharing FROM \(dialect.daemon) WHERE id = \(bind: daemon.id)"
        ) { (declared: $0.string(0), sharing: $0.string(1)) }
        if let former, former.declared == declared {
            let updated = try session.execute(
                """
                UPDATE \(dialect.daemon) SET seen_at = \(dialect.now), sharing = \(bind: daemon.sharing)
                WHERE id = \(bind: daemon.id)
                """)
            if updated > 0 { return former.sharing != daemon.sharing }
        }
        try session.execute(
            "DELETE FROM \(dialect.daemon) WHERE seen_at < \(dialect.now(plus: -Self.secondsRemembered))")
        try session.execute(
            """
            INSERT INTO \(dialect.daemon) (id, name, started_at, seen_at, declared, sources, sharing)
            VALUES (\(bind: daemon.id), \(bind: daemon.name), \(bind: daemon.startedAt), \(dialect.now), \(bind: declared),
                \(bind: daemon.declared.json()), \(bind: daemon.sharing))
            ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, declared = excluded.declared,
                sources = excluded.sources, sharing = excluded.sharing
            """)
        return true
    }

    func forget(_ id: String) throws {
        try session.execute("DELETE FROM \(dialect.daemon) WHERE id = \(bind: id)")
    }

    /// Returns the daemons that live.
    ///
    /// - Parameter known: a daemon whose declaration is not sent again for each that declares the same.
    func living(knowing known: DaemonRecord?) throws -> [DaemonRecord] {
        let sources: SQLText =
            known.map { "CASE WHEN declared <> \(bind: $0.declared.fingerprint) THEN sources END" } ?? "sources"
        return try session.all(
            """
            SELECT id, name, \(dialect.date("started_at")), sharing, \(sources) FROM \(dialect.daemon)
            WHERE seen_at > \(dialect.now(plus: -DaemonRecord.secondsToLive)) ORDER BY name, id
            """
        ) { row in
            DaemonRecord(
                id: row.string(0) ?? "", name: row.string(1) ?? "", startedAt: try row.date(2) ?? .distantPast,
                declared: try row.string(4).map { try DeclaredSources(json: $0) } ?? known?.declared
                    ?? DeclaredSources([:]),
                sharing: row.string(3))
        }
    }

    /// Returns the holders of the leases that have not ended, by source.
    func runners() throws -> [String: String] {
        var holders: [String: String] = [:]
        try session.forEachRow(
            of: """
                SELECT source, holder FROM \(dialect.source)
                WHERE holder IS NOT NULL AND held_until >= \(dialect.now)
                """
        ) { row in
            holders[row.string(0) ?? ""] = row.string(1)
            return true
        }
        return holders
    }

    /// Returns how sources stand for a daemon.
    func standings(of sources: [String], for id: String) throws -> [String: SourceStanding] {
        let count = SourceState.columns.count
        var standings: [String: SourceStanding] = [:]
        // Runs by hand are no daemon's: they may be met at their hosts any time.
        try session.forEachRow(
            of: """
                SELECT \(SourceStates.columns(dialect)), s.failures IS NOT NULL,
                    s.holder <> \(bind: id) AND s.held_until >= \(dialect.now)
                        AND EXISTS (SELECT 1 FROM \(dialect.daemon) d WHERE d.id = s.holder)
                FROM \(dialect.source) s WHERE \(dialect.isAmong("s.source", sources))
                """
        ) { row in
            standings[row.string(0) ?? ""] = SourceStanding(
                state: try row.bool(count) == true ? try SourceState(row) : nil,
                isRunElsewhere: try row.bool(count + 1) ?? false)
            return true
        }
        return standings
    }
}

extension Ledger {
    var daemons: Daemons { Daemons(ledger: self) }
}
