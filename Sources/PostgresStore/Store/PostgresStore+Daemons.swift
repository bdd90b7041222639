import FeedModel
package import FeedStores
import Foundation
import Ledger
import PostgresClient

/// The daemons that share the store.
extension PostgresStore: SharedStore {
    package var uptime: Duration { leases.uptime }

    package var daemonID: String { leases.holder }

    /// The time for which a daemon that is dead remains in the table, as its runs' leases outlive it.
    private static let secondsRemembered = 3 * Leases.seconds

    package func beat(_ daemon: DaemonRecord) throws -> [DaemonRecord] {
        try ask { connection in
            let known = try connection.execute(
                """
                WITH former AS (SELECT declared, sharing FROM tributary_daemon WHERE id = $1)
                UPDATE tributary_daemon d SET seen_at = clock_timestamp(), sharing = $3
                FROM former WHERE d.id = $1 AND d.declared = $2
                RETURNING former.sharing IS DISTINCT FROM $3
                """, [.text(daemon.id), .text(daemon.declared.fingerprint), daemon.sharing.map { .text($0) }])
            if known.isEmpty { try insert(daemon, connection) }
            if try known.first?.bool(0) ?? true { try connection.notifyDaemons(Channel.daemons, daemon.id) }
            return try Self.daemons(knowing: daemon, connection)
        }
    }

    private func insert(_ daemon: DaemonRecord, _ connection: PostgresConnection) throws {
        try connection.execute(
            "DELETE FROM tributary_daemon WHERE seen_at < clock_timestamp() - interval '\(Self.secondsRemembered) seconds'"
        )
        try connection.execute(
            """
            INSERT INTO tributary_daemon (id, name, started_at, seen_at, declared, sources, sharing)
            VALUES ($1, $2, $3, clock_timestamp(), $4, $5::jsonb, $6)
            ON CONFLICT (id) DO UPDATE SET seen_at = EXCLUDED.seen_at, declared = EXCLUDED.declared,
                sources = EXCLUDED.sources, sharing = EXCLUDED.sharing
            """,
            [
                .text(daemon.id), .text(daemon.name), PostgresDate.value(daemon.startedAt),
                .text(daemon.declared.fingerprint), .text(try daemon.declared.json()),
                daemon.sharing.map { .text($0) },
            ])
    }

    package func leave() throws {
        try ask { connection in
            try connection.execute("DELETE FROM tributary_daemon WHERE id = $1", [.text(daemonID)])
            try connection.notifyDaemons(Channel.daemons, daemonID)
        }
    }

    package func daemons() throws -> [DaemonRecord] { try ask { try Self.daemons(knowing: nil, $0) } }

    /// - Parameter known: a daemon whose declaration is not sent again for each that declares the same.
    private static func daemons(knowing known: DaemonRecord?, _ connection: PostgresConnection) throws
        -> [DaemonRecord]
    {
        try connection.execute(
            """
            SELECT id, name, \(PostgresDate.sql("started_at")), sharing,
                CASE WHEN declared IS DISTINCT FROM $1 THEN sources END
            FROM tributary_daemon
            WHERE seen_at > clock_timestamp() - interval '\(DaemonRecord.secondsToLive) seconds' ORDER BY name, id
            """, [known.map { .text($0.declared.fingerprint) }]
        ).map { row in
            DaemonRecord(
                id: row.string(0) ?? "", name: row.string(1) ?? "", startedAt: try row.date(2) ?? .distantPast,
                declared: try row.string(4).map { try DeclaredSources(json: $0) } ?? known?.declared
                    ?? DeclaredSources([:]),
                sharing: row.string(3))
        }
    }

    package func runners() throws -> [String: String] {
        try ask { connection in
            try connection.execute(
                "SELECT source, holder FROM tributary_source WHERE holder IS NOT NULL AND held_until >= clock_timestamp()"
            ).reduce(into: [:]) { $0[$1.string(0) ?? ""] = $1.string(1) }
        }
    }

    package func standings(of sources: [String]) throws -> [String: SourceStanding] {
        let count = SourceState.columns.count
        return try ask { connection in
            // Runs by hand are no daemon's: they may be met at their hosts any time.
            try connection.execute(
                """
                SELECT \(SourceStates.columns(PostgresLedgerDialect())), s.failures IS NOT NULL,
                    s.holder <> $2 AND s.held_until >= clock_timestamp()
                        AND EXISTS (SELECT 1 FROM tributary_daemon d WHERE d.id = s.holder)
                FROM tributary_source s WHERE s.source = ANY ($1)
                """, [.textArray(try PostgresTextArray(sources)), .text(daemonID)]
            ).reduce(into: [:]) { standings, row in
                standings[row.string(0) ?? ""] = SourceStanding(
                    state: try row.bool(count) == true ? try SourceState(row) : nil,
                    isRunElsewhere: try row.bool(count + 1) ?? false)
            }
        }
    }

    package func requestRefresh(_ sources: [String]) throws {
        try ask { connection in
            guard !sources.isEmpty else { return try connection.notifyDaemons(Channel.refresh, "[]") }
            // A message holds 8,000 bytes.
            var rest = sources[...]
            while !rest.isEmpty {
                var bytes = 2
                let part = rest.prefix { name in
                    bytes += (try? JSONEncoder().encode(name).count + 1) ?? 0
                    return bytes < 7_900
                }
                let names = part.isEmpty ? rest.prefix(1) : part
                try connection.notifyDaemons(
                    Channel.refresh, String(decoding: try JSONEncoder().encode(Array(names)), as: UTF8.self))
                rest = rest.dropFirst(names.count)
            }
        }
    }

    package func listen(_ receive: @escaping @Sendable ([StoreMessage]) -> Void) -> any StoreListening {
        let listener = Listener(connectionString, daemonID: daemonID, receive: receive)
        listener.start()
        return listener
    }
}

/// The channels of "NOTIFY".
enum Channel {
    /// For everybody, whichever schema of the database a store is in.
    static let commits = "tributary"
    /// Between the daemons of one store: followed by the number of the schema in which it is.
    static let refresh = "tributary_refresh_"
    static let daemons = "tributary_daemon_"
}

extension PostgresConnection {
    /// The number of the schema in which the store is, in SQL.
    private static let schema = "current_schema()::regnamespace::oid"

    func listenAsDaemon() throws {
        let schema = try execute("SELECT \(Self.schema)")[0].string(0) ?? ""
        for channel in [Channel.commits, Channel.refresh + schema, Channel.daemons + schema] { try listen(to: channel) }
    }

    fileprivate func notifyDaemons(_ channel: String, _ payload: String) throws {
        try execute("SELECT pg_notify($1 || \(Self.schema), $2)", [.text(channel), .text(payload)])
    }
}

/// Points in time in Tributary's own tables: `timestamptz`, to the millisecond, as SQLite's store keeps them.
enum PostgresDate {
    /// Returns an expression that `SQLRow.date` reads.
    static func sql(_ column: String) -> String { "extract(epoch FROM \(column))" }

    static func value(_ date: Date) -> PostgresValue { .text(StoreDate.text(date)) }
}
