import FeedModel
package import FeedStores
import Foundation

/// The daemons that share the store.
extension PostgresStore: SharedStore {
    /// Writes the request into a table, as any role of the database may send messages: a message only says that there
    /// is something to read.
    package func requestRefresh(_ sources: [String]) throws {
        try transact { connection in
            try connection.execute(
                "DELETE FROM tributary_refresh WHERE asked_at < clock_timestamp() - interval '1 hour'")
            try connection.execute(
                "INSERT INTO tributary_refresh (sources) VALUES ($1)", [.textArray(try PostgresTextArray(sources))])
            try connection.notifyDaemons(Channel.refresh, "")
        }
    }

    package func notifyRetry(ofHook name: String) throws {
        try ask { try $0.notifyDaemons(Channel.hooks, name) }
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
    static let hooks = "tributary_hook_"
}

extension PostgresConnection {
    /// The number of the schema in which the store is, in SQL.
    private static let schema = "(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = current_schema())"

    func listenAsDaemon() throws {
        let schema = try execute("SELECT \(Self.schema)")[0].string(0) ?? ""
        for channel in [Channel.commits] + [Channel.refresh, Channel.daemons, Channel.hooks].map({ $0 + schema }) {
            try listen(to: channel)
        }
    }

    func notifyDaemons(_ channel: String, _ payload: String) throws {
        try execute("SELECT pg_notify($1 || \(Self.schema), $2)", [.text(channel), .text(payload)])
    }
}

/// The leases, and the daemons, on the server.
extension PostgresStore: LeaseStore {
    package func withLeases<Value>(_ use: LeaseUse, _ body: (Ledger) throws -> Value) throws -> Value {
        let isClaim = use == .claim
        return try ask(
            by: isClaim ? nil : leaseConnections, within: isClaim ? Self.answerLimit : Self.leaseAnswerLimit
        ) { connection in
            let session: any SQLSession = isClaim ? UnsyncedSession(connection: connection) : connection
            return try body(Ledger(session, PostgresLedgerDialect(), leases: leases))
        }
    }

    package func notifyDaemons() throws {
        try ask(by: leaseConnections, within: Self.leaseAnswerLimit) {
            try $0.notifyDaemons(Channel.daemons, daemonID)
        }
    }
}

/// Executes each statement without waiting for the server's disk.
private struct UnsyncedSession: SQLSession {
    let connection: PostgresConnection

    private func result(of sql: SQLText) throws -> PostgresResult {
        try connection.execute([
            PostgresStatement("SELECT set_config('synchronous_commit', 'off', true)", isPrepared: true), sql.prepared,
        ])[1]
    }

    func execute(_ sql: SQLText) throws -> Int { try result(of: sql).affectedRows }

    func forEachRow(of sql: SQLText, _ body: (any SQLRow) throws -> Bool) throws {
        for row in try result(of: sql) { guard try body(row) else { return } }
    }
}

extension PostgresConnection {
    /// - Parameter leases: nil where no lease is needed.
    func ledger(_ leases: Leases? = nil) -> Ledger { Ledger(self, PostgresLedgerDialect(), leases: leases) }
}
