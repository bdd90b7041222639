import FeedModel
package import Ledger
import PostgresClient
import StoreSQL

/// The leases, and the daemons, on the server.
extension PostgresStore: LeaseStore {
    package func withLeases<Value>(_ use: LeaseUse, _ body: (Ledger) throws -> Value) throws -> Value {
        try ask(by: use == .renewal ? leaseConnections : nil) { connection in
            let session: any SQLSession = use == .claim ? UnsyncedSession(connection: connection) : connection
            return try body(Ledger(session, PostgresLedgerDialect(), leases: leases))
        }
    }

    package func notifyDaemons() throws { try ask { try $0.notifyDaemons(Channel.daemons, daemonID) } }
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
