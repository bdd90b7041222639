import FeedModel
import FeedStaging
import GRDB

extension TableInfo {
    /// Reads the definition of a table in the database `schema`; nil if the table does not exist.
    init?(_ db: Database, table: String, schema: String) throws {
        let rows = try Row.fetchAll(db, sql: "PRAGMA \(schema).table_xinfo(\(table.sqlIdentifier))")
        guard !rows.isEmpty else { return nil }
        // The name as it was created, whatever its case in the request.
        let listed = try Row.fetchOne(
            db,
            sql: """
                SELECT name, type, wr, strict, (
                    SELECT sql LIKE '%CONFLICT%' FROM \(schema).sqlite_schema s WHERE s.type = 'table' AND s.name = l.name
                ) AS conflicts FROM pragma_table_list(?) l WHERE schema = ?
                """, arguments: [table, schema])
        let hasRowID = (listed?["wr"] ?? 0) == 0
        let isStrict = (listed?["strict"] ?? 0) != 0
        let columns = rows.map { row in
            Column(
                name: row["name"], declaredType: row["type"],
                stagedType: Affinity(declaredType: row["type"], isStrict: isStrict).sqlType,
                isNotNull: (row["notnull"] as Int) != 0, isGenerated: (row["hidden"] as Int) > 1)
        }
        let primaryKey = rows.filter { ($0["pk"] as Int) > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }.map {
            $0["name"] as String
        }
        let indexes = try Row.fetchAll(db, sql: "PRAGMA \(schema).index_list(\(table.sqlIdentifier))")
        let uniqueIndexes =
            try indexes
            .filter { ($0["unique"] as Int) != 0 && ($0["partial"] as Int) == 0 }
            .compactMap { index -> [(name: String, collation: String)]? in
                let name: String = index["name"]
                let keys = try Row.fetchAll(db, sql: "PRAGMA \(schema).index_xinfo(\(name.sqlIdentifier))")
                    .filter { ($0["key"] as Int) != 0 }
                // An index with an expression among its columns does not make the other columns unique.
                guard keys.allSatisfy({ ($0["name"] as String?) != nil }) else { return nil }
                return keys.map { (name: $0["name"] as String, collation: $0["coll"] as String) }
            }
        let references = try Row.fetchAll(db, sql: "PRAGMA \(schema).foreign_key_list(\(table.sqlIdentifier))")
        let foreignKeys = Dictionary(grouping: references) { $0["id"] as Int }.sorted { $0.key > $1.key }.map {
            _, rows in
            ForeignKey(
                columns: rows.map { $0["from"] }, parent: rows[0]["table"],
                targets: rows.compactMap { $0["to"] as String? })
        }
        // `INTEGER PRIMARY KEY DESC` is not an alias of the rowid, and has an index (lang_createtable).
        let isAlias =
            hasRowID && primaryKey.count == 1
            && columns.contains { $0.name == primaryKey[0] && $0.declaredType.uppercased() == "INTEGER" }
            && !indexes.contains { ($0["origin"] as String) == "pk" }
        self.init(
            name: listed?["name"] ?? table, kind: listed?["type"] ?? "table", columns: columns, primaryKey: primaryKey,
            generatedKey: isAlias ? primaryKey[0] : nil, uniqueIndexes: uniqueIndexes, foreignKeys: foreignKeys,
            isStrict: isStrict, hasConflictClause: (listed?["conflicts"] ?? 0) != 0, hasRowID: hasRowID)
    }
}
