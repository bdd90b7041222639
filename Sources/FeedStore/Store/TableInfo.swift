import GRDB

/// A table of the main store, as far as staging and merging need to know it.
struct TableInfo: Sendable {
    struct Column: Sendable {
        var name: String
        var declaredType: String
        var isNotNull: Bool
        var isGenerated: Bool
    }

    struct ForeignKey: Sendable {
        var columns: [String]
        var parent: String
        /// The parent's columns; empty where they are its primary key.
        var targets: [String]
    }

    var name: String
    var columns: [Column]
    /// Empty for a table without a declared primary key.
    var primaryKey: [String]
    /// The column that is another name for the rowid, whose value SQLite generates (lang_createtable, "ROWIDs and the
    /// INTEGER PRIMARY KEY").
    var generatedKey: String?
    var hasRowID: Bool
    /// The columns of each unique index, with their collations.
    var uniqueIndexes: [[(name: String, collation: String)]]
    var foreignKeys: [ForeignKey]

    /// A name of the rowid that no column has taken for itself.
    var rowID: String? {
        hasRowID ? ["rowid", "_rowid_", "oid"].first { column($0) == nil } : nil
    }

    func column(_ name: String) -> Column? {
        columns.first { $0.name.lowercased() == name.lowercased() }
    }

    /// The collation under which the key's values are unique, by column; nil where no unique index covers the key.
    func collations(ofKey key: [String]) -> [String]? {
        let wanted = Set(key.map { $0.lowercased() })
        if key.count == 1, key[0].lowercased() == generatedKey?.lowercased() { return ["BINARY"] }
        guard let index = uniqueIndexes.first(where: { Set($0.map { $0.name.lowercased() }) == wanted }) else {
            return nil
        }
        return key.map { column in
            index.first { $0.name.lowercased() == column.lowercased() }?.collation ?? "BINARY"
        }
    }
}

extension TableInfo {
    /// Reads what the database `schema` says of a table; nil where there is no such table.
    init?(_ db: Database, table: String, schema: String) throws {
        let rows = try Row.fetchAll(db, sql: "PRAGMA \(schema).table_xinfo(\(table.sqlIdentifier))")
        guard !rows.isEmpty else { return nil }
        // As it was created, whatever letters it is asked for in.
        name =
            try String.fetchOne(
                db, sql: "SELECT name FROM pragma_table_list(?) WHERE schema = ?", arguments: [table, schema]) ?? table
        columns = rows.map { row in
            Column(
                name: row["name"], declaredType: row["type"], isNotNull: (row["notnull"] as Int) != 0,
                isGenerated: (row["hidden"] as Int) > 1)
        }
        primaryKey = rows.filter { ($0["pk"] as Int) > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }.map {
            $0["name"]
        }
        hasRowID =
            try Bool.fetchOne(
                db, sql: "SELECT wr = 0 FROM pragma_table_list(?) WHERE schema = ?", arguments: [table, schema]) ?? true
        generatedKey = nil
        uniqueIndexes = try Row.fetchAll(db, sql: "PRAGMA \(schema).index_list(\(table.sqlIdentifier))")
            .filter { ($0["unique"] as Int) != 0 && ($0["partial"] as Int) == 0 }
            .map { index in
                let name: String = index["name"]
                return try Row.fetchAll(db, sql: "PRAGMA \(schema).index_xinfo(\(name.sqlIdentifier))")
                    .filter { ($0["key"] as Int) != 0 && ($0["name"] as String?) != nil }
                    .map { (name: $0["name"], collation: $0["coll"]) }
            }
        let references = try Row.fetchAll(db, sql: "PRAGMA \(schema).foreign_key_list(\(table.sqlIdentifier))")
        foreignKeys = Dictionary(grouping: references) { $0["id"] as Int }.sorted { $0.key > $1.key }.map { _, rows in
            ForeignKey(
                columns: rows.map { $0["from"] }, parent: rows[0]["table"],
                targets: rows.compactMap { $0["to"] as String? })
        }
        if hasRowID, primaryKey.count == 1, column(primaryKey[0])?.declaredType.uppercased() == "INTEGER" {
            generatedKey = primaryKey[0]
        }
    }
}
