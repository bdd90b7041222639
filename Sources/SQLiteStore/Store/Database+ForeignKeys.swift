import CSQLite
import GRDB

extension Database {
    /// True if rows lack their parents at this moment of the transaction.
    var hasBrokenForeignKeys: Bool {
        var broken: Int32 = 0
        var unused: Int32 = 0
        sqlite3_db_status(sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &unused, 0)
        return broken != 0
    }

    /// Runs a statement without checking each of its rows. The statement must not violate a foreign key. Afterwards
    /// SQLite prepares every prepared statement again.
    func withoutForeignKeyChecks(_ body: () throws -> Void) rethrows {
        tributary_enforce_foreign_keys(sqliteConnection, 0)
        defer { tributary_enforce_foreign_keys(sqliteConnection, 1) }
        try body()
    }
}
