import CSQLite
import FeedStaging
import GRDB

extension Database {
    /// True if the transaction has rows that lack their parents so far.
    var hasBrokenForeignKeys: Bool {
        var broken: Int32 = 0
        var unused: Int32 = 0
        sqlite3_db_status(sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &unused, 0)
        return broken != 0
    }

    /// Returns which foreign key makes SQLite refuse all statements that write a table, and what to drop; empty for
    /// other errors.
    func advice(on error: DatabaseError) -> String {
        guard let message = error.message else { return "" }
        if let found = message.wholeMatch(of: /foreign key mismatch - "(.+)" referencing "(.+)"/) {
            let (child, parent) = (String(found.1), String(found.2))
            let columns = columns(of: child, referringTo: parent)
            return
                ": the foreign key (\(columns.joined(separator: ", "))) of table '\(child)' refers to table '\(parent)', whose "
                + "primary key it does not match; run DROP TABLE \(child.sqlIdentifier), or make the table without this foreign key"
        }
        guard let found = message.wholeMatch(of: /no such table: main\.(.+)/) else { return "" }
        let parent = String(found.1)
        let children = try? String.fetchAll(
            self,
            sql: """
                SELECT DISTINCT t.name FROM pragma_table_list t CROSS JOIN pragma_foreign_key_list(t.name, 'main') f
                WHERE t.schema = 'main' AND t.type = 'table' AND f."table" = ? COLLATE NOCASE ORDER BY t.name
                """, arguments: [parent])
        return (children ?? []).map { child in
            let columns = columns(of: child, referringTo: parent)
            return
                ": the column '\(columns.joined(separator: "', '"))' of table '\(child)' refers to it; create table '\(parent)', or "
                + "run ALTER TABLE \(child.sqlIdentifier) DROP COLUMN \(columns.map(\.sqlIdentifier).joined(separator: ", "))"
        }.joined()
    }

    private func columns(of child: String, referringTo parent: String) -> [String] {
        let names = try? String.fetchAll(
            self,
            sql: """
                SELECT "from" FROM pragma_foreign_key_list(?, 'main') WHERE "table" = ? COLLATE NOCASE ORDER BY id, seq
                """, arguments: [child, parent])
        return names ?? []
    }

    /// Runs a statement without checking each of its rows. The statement must not violate a foreign key. Afterwards
    /// SQLite prepares every prepared statement again.
    func withoutForeignKeyChecks(_ body: () throws -> Void) rethrows {
        tributary_enforce_foreign_keys(sqliteConnection, 0)
        defer { tributary_enforce_foreign_keys(sqliteConnection, 1) }
        try body()
    }
}
