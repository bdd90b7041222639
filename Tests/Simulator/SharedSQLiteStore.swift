import FeedModel
import FeedStores
import Foundation
import GRDB
package import Ledger
package import SQLiteStore

/// The leases of one process on a file that several processes share as they would share a server.
///
/// What a lease, a fence and a heartbeat mean is the same code as for PostgreSQL, that of `Ledger`. The columns and the
/// table that it needs are added by a migration of the simulator's.
package final class SharedSQLiteStore: LeaseStore {
    package let store: SQLiteStore
    package let leases: Leases
    private let notify: @Sendable () -> Void
    private let around: @Sendable (LeaseUse, () throws -> Void) throws -> Void

    /// - Parameters:
    ///   - workFolder: the folder of scratch files, which is this process's own.
    ///   - notify: sends the other daemons a message.
    ///   - around: gets each use of the leases, and may fail before or after it.
    package init(
        path: String, schema: String? = nil, workFolder: String, work: SQLiteWork? = nil, leases: Leases,
        notify: @escaping @Sendable () -> Void = {},
        around: @escaping @Sendable (LeaseUse, () throws -> Void) throws -> Void = { try $1() }
    ) throws {
        self.leases = leases
        self.notify = notify
        self.around = around
        store = try SQLiteStore(
            path: path, schema: schema, workFolder: workFolder, work: work, leases: leases,
            registerMigrations: { $0.registerMigration("simulator.leases", migrate: Self.addLeases) })
    }

    package func withLeases<Value>(_ use: LeaseUse, _ body: (Ledger) throws -> Value) throws -> Value {
        var result: Value?
        try around(use) { result = try store.writeLedger(body) }
        guard let result else { throw StoreError(.database, "no lease was asked for") }
        return result
    }

    package func notifyDaemons() throws { notify() }

    /// Adds what the tables of PostgreSQL have, whose sources may have no state.
    private static func addLeases(_ db: Database) throws {
        let definitions = try String.fetchAll(
            db,
            sql: """
                SELECT sql FROM sqlite_master WHERE tbl_name = 'tributary_source' AND sql IS NOT NULL ORDER BY type DESC
                """)
        try db.drop(table: "tributary_source")
        for definition in definitions {
            try db.execute(sql: definition.replacing("failures INTEGER NOT NULL", with: "failures INTEGER"))
        }
        try db.execute(
            sql: """
                ALTER TABLE tributary_source ADD COLUMN holder TEXT;
                ALTER TABLE tributary_source ADD COLUMN lease INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE tributary_source ADD COLUMN held_until TEXT;
                ALTER TABLE tributary_hook ADD COLUMN holder TEXT;
                ALTER TABLE tributary_hook ADD COLUMN held_until TEXT;
                CREATE TABLE tributary_daemon (
                    id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, started_at TEXT NOT NULL, seen_at TEXT NOT NULL,
                    declared TEXT NOT NULL, sources TEXT NOT NULL, sharing TEXT) WITHOUT ROWID;
                """)
    }
}
