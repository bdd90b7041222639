import CSQLite
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
            mentioning.compactMap { row in Self.conflictClause(in: row["sql"]).map { (row["name"] as String, $0) }
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

    /// Returns the first conflict clause of a CREATE TABLE statement other than the usual ABORT; nil without one.
    private static func conflictClause(in sql: String) -> String? {
        let words = sql.replacing(
            /\/\*.*?(\*\/|$)|--[^\n]*|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/.dotMatchesNewlines(), with: " ")
        return words.firstMatch(of: /\bON\s+CONFLICT\s+(?!ABORT\b)(\w+)/.ignoresCase()).map {
            "ON CONFLICT \($0.1.uppercased())"
        }
    }

    /// SQLite's own folding of names, which leaves all but ASCII's letters (lang_createtable.html).
    private static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension StoredTable {
    static func id(_ name: String) -> TableID { name.lowercased() }

    /// Reads the definition of a table in the database `schema`; nil if the table does not exist.
    ///
    /// - Parameters:
    ///   - list: the tables of the database, where many are asked for.
    ///   - graph: the foreign keys of the database, where those are asked for that refer to the table.
    init?(
        _ db: Database, table: String, schema: String, in list: TableList? = nil, _ graph: ForeignKeyGraph? = nil
    ) throws {
        let rows = try Row.fetchAll(db, sql: "PRAGMA \(schema).table_xinfo(\(table.sqlIdentifier))")
        guard !rows.isEmpty else { return nil }
        let listed = try (list ?? TableList(db, schema: schema, of: table))[table]
        let hasRowID = listed?.hasRowID ?? true
        let isStrict = listed?.isStrict ?? false
        let name = listed?.name ?? table
        let columns = rows.map { row in
            Column(
                name: row["name"], type: row["type"],
                stagedType: Affinity(declaredType: row["type"], isStrict: isStrict).sqlType,
                isNotNull: (row["notnull"] as Int) != 0, isComputed: (row["hidden"] as Int) > 1,
                collation: db.collation(of: row["name"], in: table, schema))
        }
        let primaryKey = rows.filter { ($0["pk"] as Int) > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }.map {
            $0["name"] as String
        }
        let indexes = try Row.fetchAll(db, sql: "PRAGMA \(schema).index_list(\(table.sqlIdentifier))")
        let uniquenesses =
            try indexes
            .filter { ($0["unique"] as Int) != 0 && ($0["partial"] as Int) == 0 }
            .compactMap { index -> Uniqueness? in
                let name: String = index["name"]
                let keys = try Row.fetchAll(db, sql: "PRAGMA \(schema).index_xinfo(\(name.sqlIdentifier))")
                    .filter { ($0["key"] as Int) != 0 }
                // An index with an expression among its columns does not make the other columns unique.
                guard keys.allSatisfy({ ($0["name"] as String?) != nil }) else { return nil }
                return Uniqueness(columns: keys.map { $0["name"] }, collations: keys.map { $0["coll"] })
            }
        let references = try Row.fetchAll(db, sql: "PRAGMA \(schema).foreign_key_list(\(table.sqlIdentifier))")
        let foreignKeys = Dictionary(grouping: references) { $0["id"] as Int }.sorted { $0.key > $1.key }.map {
            ForeignKey($0.value, of: name)
        }
        // `INTEGER PRIMARY KEY DESC` is not an alias of the rowid, and has an index (lang_createtable).
        let isAlias =
            hasRowID && primaryKey.count == 1
            && columns.contains { $0.name == primaryKey[0] && $0.type.uppercased() == "INTEGER" }
            && !indexes.contains { ($0["origin"] as String) == "pk" }
        let names = Set(columns.map { $0.name.lowercased() })
        let rowID = hasRowID ? ["rowid", "_rowid_", "oid"].first { !names.contains($0) } : nil
        let isKeyThere = columns.allSatisfy { !primaryKey.contains($0.name) || $0.isNotNull }
        let written = Set(columns.filter { !$0.isComputed }.map(\.name))
        self.init(
            id: Self.id(name), name: name, schema: schema, relation: name, sql: "\(schema).\(name.sqlIdentifier)",
            kind: Kind(listed: listed?.type), columns: columns, primaryKey: primaryKey,
            generatedKey: isAlias ? primaryKey[0] : nil, uniquenesses: uniquenesses, foreignKeys: foreignKeys,
            children: graph?.references(to: name) ?? [],
            locator: rowID.map { [Locator(sql: $0, definition: "", column: isAlias ? primaryKey[0] : nil)] }
                ?? primaryKey.map { Locator(sql: $0.sqlIdentifier, definition: "", column: $0) },
            rowID: rowID, identifiesRows: hasRowID,
            // A row id may change when the store is copied.
            lastingKey: isKeyThere || !hasRowID || isAlias ? primaryKey : [],
            mergeKey: primaryKey.isEmpty
                ? uniquenesses.map(\.columns).first { $0.allSatisfy(written.contains) } : primaryKey,
            // SQLite's limit (limits.html, "SQLITE_MAX_COLUMN"), less those that staging adds.
            maximumColumns: Self.maximumColumns)
        self.isStrict = isStrict
        conflictClause = listed?.conflictClause
    }

    static let maximumColumns = 1990

    /// Returns how some columns compare. Columns that do not exist are left out.
    ///
    /// - Parameter names: the names in lower case.
    func comparison(of names: Set<String>) -> TableComparison {
        let found = columns.filter { names.contains($0.name.lowercased()) }.compactMap { column in
            column.collation.map { collation in
                // In a STRICT table, ANY keeps every value as it is (stricttables.html, section 2).
                let affinity = Affinity(declaredType: column.type, isStrict: isStrict)
                return (column.name.lowercased(), ColumnComparison(affinity: affinity, collation: collation))
            }
        }
        return TableComparison(columns: Dictionary(found) { first, _ in first })
    }
}

extension StoredTable.Kind {
    /// - Parameter listed: as `PRAGMA table_list` names it.
    fileprivate init(listed: String?) {
        self =
            switch listed {
            case "view": .view
            case "virtual": .virtual
            case "shadow": .shadow
            default: .table
            }
    }
}

extension StoredTable.ForeignKey {
    /// - Parameters:
    ///   - rows: those of a key in `PRAGMA foreign_key_list`.
    ///   - child: the table whose key it is.
    init(_ rows: some Collection<Row>, of child: String) {
        let first = rows[rows.startIndex]
        self.init(
            child: StoredTable.id(child), columns: rows.map { $0["from"] }, parent: StoredTable.id(first["table"]),
            parentName: first["table"], targets: rows.compactMap { $0["to"] as String? },
            onDelete: Action(listed: first["on_delete"]), onUpdate: Action(listed: first["on_update"]))
    }
}

extension StoredTable.ForeignKey.Action {
    /// - Parameter listed: as `PRAGMA foreign_key_list` writes it.
    fileprivate init(listed: String) {
        self =
            switch listed {
            case "RESTRICT": .restrict
            case "SET NULL": .setNull
            case "SET DEFAULT": .setDefault
            case "CASCADE": .cascade
            default: .none
            }
    }
}

extension Database {
    /// Returns the collation of a column; nil for one of a view. The connection must have read the schema.
    fileprivate func collation(of column: String, in table: String, _ schema: String) -> String? {
        var collation: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            sqliteConnection, schema, table, column, nil, &collation, nil, nil, nil)
        return code == SQLITE_OK ? collation.map { String(cString: $0) } : nil
    }
}
