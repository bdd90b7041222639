import FeedModel
import Foundation

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
            OwnTables.daemons.upsert(
                of: [daemon], dialect.tables,
                [
                    "seen_at": SQLText(dialect.now), "declared": "\(bind: declared)",
                    "sources": "\(bind: daemon.declared.json())",
                ]))
        return true
    }

    func forget(_ id: String) throws {
        try session.execute("DELETE FROM \(dialect.daemon) WHERE id = \(bind: id)")
    }

    /// Returns the daemons that live.
    ///
    /// - Parameter known: a daemon whose declaration is not sent again for each that declares the same.
    func living(knowing known: DaemonRecord?) throws -> [DaemonRecord] {
        let reader = OwnTables.daemons.reader
        let sources: SQLText =
            known.map { "CASE WHEN declared <> \(bind: $0.declared.fingerprint) THEN sources END" } ?? "sources"
        return try session.all(
            """
            SELECT \(columns(reader)), \(sources) FROM \(dialect.daemon)
            WHERE seen_at > \(dialect.now(plus: -DaemonRecord.secondsToLive)) ORDER BY name, id
            """
        ) { row in
            var daemon = try read(reader, row)
            if let declared = try row.string(reader.count(dialect.tables)).map({ try DeclaredSources(json: $0) })
                ?? known?.declared
            {
                daemon.declared = declared
            }
            return daemon
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

    /// Returns how sources stand for a daemon; all that the store knows for nil.
    func standings(of sources: [String]?, for id: String) throws -> [String: SourceStanding] {
        let isAmong: SQLText = sources.map { " WHERE \(dialect.isAmong("s.source", $0))" } ?? ""
        let reader = OwnTables.sources.reader
        let count = reader.count(dialect.tables)
        var standings: [String: SourceStanding] = [:]
        // Runs by hand are no daemon's: they may be met at their hosts any time.
        try session.forEachRow(
            of: """
                SELECT \(columns(reader)), s.failures IS NOT NULL,
                    s.holder <> \(bind: id) AND s.held_until >= \(dialect.now)
                        AND EXISTS (SELECT 1 FROM \(dialect.daemon) d WHERE d.id = s.holder)
                FROM \(dialect.source) s\(isAmong)
                """
        ) { row in
            let state = try read(reader, row)
            standings[state.source] = SourceStanding(
                state: try row.bool(count) == true ? state : nil, origin: state.origin,
                isRunElsewhere: try row.bool(count + 1) ?? false)
            return true
        }
        return standings
    }
}

extension Ledger {
    var daemons: Daemons { Daemons(ledger: self) }
}
