import FeedModel
import GRDB

/// The properties of a main store's table that staging and merging need.
package struct TableInfo: Sendable {
    struct Column: Sendable {
        var name: String
        var declaredType: String
        /// The type that gives a staging table's column the same affinity. The declared type may be any text (SQLite
        /// accepts it), and `ANY` means another affinity in a table that is not STRICT.
        var stagedType: String
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
    /// SQLite's name for the kind of table: `table`, or `view`, `virtual`, `shadow`.
    var kind: String
    var isStrict: Bool
    /// True if a constraint of the table says what is done with rows that break it (lang_conflict.html).
    var hasConflictClause: Bool
    let columns: [Column]
    /// The columns' positions, by their names in lower case.
    private let positions: [String: Int]
    /// Empty for a table without a declared primary key.
    var primaryKey: [String]
    /// The column that is another name for the rowid, whose value SQLite generates (lang_createtable, "ROWIDs and the
    /// INTEGER PRIMARY KEY").
    var generatedKey: String?
    var hasRowID: Bool
    /// The columns of each unique index, with their collations.
    var uniqueIndexes: [[(name: String, collation: String)]]
    var foreignKeys: [ForeignKey]

    /// - Parameter hasRowID: true where rows can be told apart without a primary key.
    init(
        name: String, kind: String, columns: [Column], primaryKey: [String], generatedKey: String?,
        uniqueIndexes: [[(name: String, collation: String)]], foreignKeys: [ForeignKey], isStrict: Bool = false,
        hasConflictClause: Bool = false, hasRowID: Bool = true
    ) {
        self.name = name
        self.kind = kind
        self.columns = columns
        positions = Self.positions(of: columns)
        self.primaryKey = primaryKey
        self.generatedKey = generatedKey
        self.uniqueIndexes = uniqueIndexes
        self.foreignKeys = foreignKeys
        self.isStrict = isStrict
        self.hasConflictClause = hasConflictClause
        self.hasRowID = hasRowID
    }

    private static func positions(of columns: [Column]) -> [String: Int] {
        Dictionary(columns.enumerated().map { ($1.name.lowercased(), $0) }) { first, _ in first }
    }

    /// A name of the rowid that no column uses.
    var rowID: String? {
        hasRowID ? ["rowid", "_rowid_", "oid"].first { column($0) == nil } : nil
    }

    /// The columns, as SQL names them, that tell a row from all others of the table.
    var locator: [String] { rowID.map { [$0] } ?? primaryKey.map(\.sqlIdentifier) }

    func column(_ name: String) -> Column? { positions[name.lowercased()].map { columns[$0] } }

    /// Returns the collations under which the key's values are unique, by column; nil where no unique index covers the
    /// key.
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
    /// The most columns that a mapping may write: SQLite's limit (limits.html, "SQLITE_MAX_COLUMN"), less those that
    /// staging adds.
    static let maximumColumns = 1990

    /// Returns the reason for which rows with this many columns cannot be written to the table; nil where they can.
    func problem(ofWriting count: Int) -> String? {
        if kind != "table" {
            let what = kind == "virtual" ? "virtual table" : kind == "view" ? "view" : "table of SQLite's own"
            return
                "'\(name)' is a \(what), and rows are merged into tables only; write to a table, and let a trigger on "
                + "it fill '\(name)'"
        }
        if count > Self.maximumColumns {
            return "\(count) columns are to be written to table '\(name)', and at most \(Self.maximumColumns) can be; "
                + "leave some out, or split the table"
        }
        if locator.isEmpty {
            return
                "the columns of table '\(name)' hide every name of its row id, and it has no primary key; rename one of "
                + "its columns rowid, _rowid_ and oid"
        }
        return nil
    }

    /// Reads the definition of a table in the database `schema`; nil where there is no such table.
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
        name = listed?["name"] ?? table
        kind = listed?["type"] ?? "table"
        hasRowID = (listed?["wr"] ?? 0) == 0
        hasConflictClause = (listed?["conflicts"] ?? 0) != 0
        let isStrict = (listed?["strict"] ?? 0) != 0
        self.isStrict = isStrict
        columns = rows.map { row in
            Column(
                name: row["name"], declaredType: row["type"],
                stagedType: Affinity(declaredType: row["type"], isStrict: isStrict).sqlType,
                isNotNull: (row["notnull"] as Int) != 0, isGenerated: (row["hidden"] as Int) > 1)
        }
        positions = Self.positions(of: columns)
        primaryKey = rows.filter { ($0["pk"] as Int) > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }.map {
            $0["name"]
        }
        generatedKey = nil
        let indexes = try Row.fetchAll(db, sql: "PRAGMA \(schema).index_list(\(table.sqlIdentifier))")
        uniqueIndexes =
            try indexes
            .filter { ($0["unique"] as Int) != 0 && ($0["partial"] as Int) == 0 }
            .compactMap { index in
                let name: String = index["name"]
                let keys = try Row.fetchAll(db, sql: "PRAGMA \(schema).index_xinfo(\(name.sqlIdentifier))")
                    .filter { ($0["key"] as Int) != 0 }
                // An index with an expression among its columns does not make the other columns unique.
                guard keys.allSatisfy({ ($0["name"] as String?) != nil }) else { return nil }
                return keys.map { (name: $0["name"], collation: $0["coll"]) }
            }
        let references = try Row.fetchAll(db, sql: "PRAGMA \(schema).foreign_key_list(\(table.sqlIdentifier))")
        foreignKeys = Dictionary(grouping: references) { $0["id"] as Int }.sorted { $0.key > $1.key }.map { _, rows in
            ForeignKey(
                columns: rows.map { $0["from"] }, parent: rows[0]["table"],
                targets: rows.compactMap { $0["to"] as String? })
        }
        // `INTEGER PRIMARY KEY DESC` is not an alias of the rowid, and has an index (lang_createtable).
        if hasRowID, primaryKey.count == 1, column(primaryKey[0])?.declaredType.uppercased() == "INTEGER",
            !indexes.contains(where: { $0["origin"] == "pk" })
        {
            generatedKey = primaryKey[0]
        }
    }
}
