import CSQLite
import GRDB

extension Database {
    /// Whether rows lack their parents at this moment of the transaction.
    var hasBrokenForeignKeys: Bool {
        var broken: Int32 = 0
        var unused: Int32 = 0
        sqlite3_db_status(sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &unused, 0)
        return broken != 0
    }

    /// Runs a statement that is known to break no foreign key without having each of its rows checked. Every prepared
    /// statement is prepared anew afterwards.
    func withoutForeignKeyChecks(_ body: () throws -> Void) rethrows {
        tributary_enforce_foreign_keys(sqliteConnection, 0)
        defer { tributary_enforce_foreign_keys(sqliteConnection, 1) }
        try body()
    }
}
