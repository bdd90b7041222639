import FeedModel
package import FeedStores
import Foundation
import GRDB
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
        try around(use) { result = try store.write(body) }
        guard let result else { throw StoreError(.database, "no lease was asked for") }
        return result
    }

    package func notifyDaemons() throws { notify() }

    /// Adds the tables and columns of the stores that daemons share.
    private static func addLeases(_ db: Database) throws {
        for table in OwnTables.all where table.scope != .concurrent {
            if table.scope == .shared { try db.execute(sql: table.creation(.sqlite)) }
            for column in table.columns where column.scope == .shared {
                try db.execute(sql: "ALTER TABLE \(table.name) ADD COLUMN \(column.definition(.sqlite))")
            }
        }
    }
}
