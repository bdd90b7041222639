import FeedModel
import FeedStaging
package import FeedStores

/// The way of another store's content into this one, and of this one's into another.
extension PostgresStore {
    package func identity() throws -> String {
        try ask { connection in
            let row = try connection.execute(
                "SELECT pg_postmaster_start_time(), current_database(), 'tributary_run'::regclass::oid")[0]
            return "server " + (0..<3).map { row.string($0) ?? "" }.joined(separator: " ")
        }
    }

    package func snapshot(_ body: (any TransferReader) throws -> Void) throws {
        do {
            try snapshot(lock: LockLimits.commit, within: .work) { connection in
                try connection.executeScript(Self.noTimeouts + "SET LOCAL synchronize_seqscans = off")
                try body(PostgresTransfer(store: self, connection: connection))
            }
        } catch let error as PostgresError {
            throw StoreError(reading: error, store: description)
        }
    }

    package func receive(_ body: (any TransferWriter) throws -> Void) throws {
        do {
            try transaction { connection in
                try connection.executeScript(Self.noTimeouts + "SET CONSTRAINTS ALL DEFERRED")
                try body(PostgresTransfer(store: self, connection: connection))
            }
        } catch let error as PostgresError {
            throw StoreError(commit: error, store: description)
        }
        try renewTableInfos(of: nil)
    }

    package func dropEmptyTables(_ names: [String], andOwn areAll: Bool) throws {
        try transact { connection in
            let tables = try Catalog(connection).tables(named: names).values.map(\.sql).sorted()
            for table in tables {
                try connection.execute("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
                guard try connection.execute("SELECT EXISTS (SELECT FROM \(table))")[0].bool(0) == false else {
                    throw StoreError(.conflict, "there are rows in \(table)")
                }
            }
            let own = try areAll ? Self.ownTables(connection) : []
            guard !(tables + own).isEmpty else { return }
            try connection.execute("DROP TABLE \((tables + own).joined(separator: ", "))")
        }
    }

    /// Returns Tributary's own tables except `tributary_run`, as SQL names them.
    private static func ownTables(_ connection: PostgresConnection) throws -> [String] {
        try connection.execute(
            """
            SELECT c.oid::regclass::text FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_class r ON r.oid = to_regclass('tributary_run') AND r.relnamespace = c.relnamespace
            WHERE c.relkind = 'r' AND c.relname LIKE 'tributary\\_%' ORDER BY 1
            """
        ).compactMap { $0.string(0) }
    }

    /// Each store waits for the other, and a table may be large.
    private static let noTimeouts =
        "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0; "
}
