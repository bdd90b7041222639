import FeedModel
import FeedStaging
import GRDB

/// The tables and views of a database, read at once: each question for one alone passes through all of them.
struct TableList: Sendable {
    struct Entry: Sendable {
        /// The name as it was created, whatever its case in the request.
        var name: String
        var type: String
        var hasRowID: Bool
        var isStrict: Bool
        var conflictClause: String?
    }

    private let entries: [String: Entry]

    /// - Parameter table: the only one that is read; nil for all.
    init(_ db: Database, schema: String, of table: String? = nil) throws {
        let mentioning = try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM \(schema).sqlite_schema WHERE type = 'table' AND sql LIKE '%CONFLICT%'
                AND (?1 IS NULL OR name = ?1 COLLATE NOCASE)
                """, arguments: [table])
        let conflicts = Dictionary(
            mentioning.compactMap { row in TableSQL.conflictClause(in: row["sql"]).map { (row["name"] as String, $0) }
            },
            uniquingKeysWith: { first, _ in first })
        let listed = try Row.fetchAll(
            db,
            sql: "SELECT name, type, wr, strict FROM pragma_table_list\(table == nil ? "" : "(?2)") WHERE schema = ?1",
            arguments: table.map { [schema, $0] } ?? [schema])
        entries = Dictionary(
            listed.map { row in
                let name: String = row["name"]
                let entry = Entry(
                    name: name, type: row["type"], hasRowID: (row["wr"] ?? 0) == 0, isStrict: (row["strict"] ?? 0) != 0,
                    conflictClause: conflicts[name])
                return (Self.folded(name), entry)
            }, uniquingKeysWith: { first, _ in first })
    }

    subscript(table: String) -> Entry? { entries[Self.folded(table)] }

    /// SQLite's own folding of names, which leaves all but ASCII's letters (lang_createtable.html).
    private static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension TableInfo {
    /// Reads the definition of a table in the database `schema`; nil if the table does not exist.
    ///
    /// - Parameter list: the tables of the database, where many are asked for.
    init?(_ db: Database, table: String, schema: String, in list: TableList? = nil) throws {
        let rows = try Row.fetchAll(db, sql: "PRAGMA \(schema).table_xinfo(\(table.sqlIdentifier))")
        guard !rows.isEmpty else { return nil }
        let listed = try (list ?? TableList(db, schema: schema, of: table))[table]
        let hasRowID = listed?.hasRowID ?? true
        let isStrict = listed?.isStrict ?? false
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
            name: listed?.name ?? table, kind: listed?.type ?? "table", columns: columns, primaryKey: primaryKey,
            generatedKey: isAlias ? primaryKey[0] : nil, uniqueIndexes: uniqueIndexes, foreignKeys: foreignKeys,
            isStrict: isStrict, conflictClause: listed?.conflictClause, hasRowID: hasRowID)
    }
}
