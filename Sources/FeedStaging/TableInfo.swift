package import FeedModel

/// The properties of a main store's table that staging and merging need.
package struct TableInfo: Sendable {
    package struct Column: Sendable {
        package var name: String
        package var declaredType: String
        /// The type that gives a staging table's column the same affinity. The declared type may be any text (SQLite
        /// accepts it), and `ANY` means another affinity in a table that is not STRICT.
        package var stagedType: String
        package var isNotNull: Bool
        package var isGenerated: Bool
        /// False if the column considers texts of different bytes equal.
        package var isBytewise: Bool
        /// False if values may be equal in the store although they differ where they are staged, such as 1.0 and 1.00.
        package var bytesDecide: Bool

        package init(
            name: String, declaredType: String, stagedType: String, isNotNull: Bool, isGenerated: Bool,
            isBytewise: Bool = true, bytesDecide: Bool = true
        ) {
            self.isBytewise = isBytewise
            self.bytesDecide = bytesDecide
            self.name = name
            self.declaredType = declaredType
            self.stagedType = stagedType
            self.isNotNull = isNotNull
            self.isGenerated = isGenerated
        }
    }

    package struct ForeignKey: Sendable {
        package var columns: [String]
        package var parent: String
        /// The parent's columns; empty if they are its primary key.
        package var targets: [String]

        package init(columns: [String], parent: String, targets: [String]) {
            self.columns = columns
            self.parent = parent
            self.targets = targets
        }
    }

    package var name: String
    /// SQLite's name for the kind of table: `table`, or `view`, `virtual`, `shadow`.
    package var kind: String
    package var isStrict: Bool
    /// A conflict clause of the table's constraints, by which SQLite replaces or skips rows: `ON CONFLICT REPLACE`
    /// (lang_conflict.html); nil without one.
    package var conflictClause: String?
    package let columns: [Column]
    /// The columns' positions, by their names in lower case.
    private let positions: [String: Int]
    /// Empty for a table without a declared primary key.
    package var primaryKey: [String]
    /// The column that is another name for the rowid, whose value SQLite generates (lang_createtable, "ROWIDs and the
    /// INTEGER PRIMARY KEY").
    package var generatedKey: String?
    package var hasRowID: Bool
    /// The columns of each unique index, with their collations.
    package var uniqueIndexes: [[(name: String, collation: String)]]
    package var foreignKeys: [ForeignKey]

    /// - Parameter hasRowID: true if rows can be identified without a primary key.
    package init(
        name: String, kind: String, columns: [Column], primaryKey: [String], generatedKey: String?,
        uniqueIndexes: [[(name: String, collation: String)]], foreignKeys: [ForeignKey], isStrict: Bool = false,
        conflictClause: String? = nil, hasRowID: Bool = true
    ) {
        self.name = name
        self.kind = kind
        self.columns = columns
        positions = Dictionary(columns.enumerated().map { ($1.name.lowercased(), $0) }) { first, _ in first }
        self.primaryKey = primaryKey
        self.generatedKey = generatedKey
        self.uniqueIndexes = uniqueIndexes
        self.foreignKeys = foreignKeys
        self.isStrict = isStrict
        self.conflictClause = conflictClause
        self.hasRowID = hasRowID
    }

    /// A name of the rowid that no column uses.
    package var rowID: String? {
        hasRowID ? ["rowid", "_rowid_", "oid"].first { column($0) == nil } : nil
    }

    /// The columns, as SQL names them, that identify a row of the table.
    package var locator: [String] { rowID.map { [$0] } ?? primaryKey.map(\.sqlIdentifier) }

    package func column(_ name: String) -> Column? { position(of: name).map { columns[$0] } }

    /// Returns the place of a column among ``columns``.
    package func position(of column: String) -> Int? { positions[column.lowercased()] }

    /// Returns the collations under which the key's values are unique, by column; nil if no unique index covers the
    /// key.
    package func collations(ofKey key: [String]) -> [String]? {
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
    package static let maximumColumns = 1990

    /// Returns the reason for which rows with this many columns cannot be written to the table; nil if they can.
    package func problem(ofWriting count: Int) -> Finding? {
        if kind != "table" {
            let what = kind == "virtual" ? "virtual table" : kind == "view" ? "view" : "table of SQLite's own"
            return Finding(
                "'\(name)' is a \(what), and rows are merged into tables only",
                help: "write to a table, and let a trigger on it fill '\(name)'")
        }
        if let conflictClause {
            return Finding(
                "table '\(name)' is defined with \(conflictClause), by which SQLite replaces or skips rows without an error",
                help: "create the table again without the clause, and copy its rows")
        }
        if count > Self.maximumColumns {
            return Finding(
                "\(count) columns are to be written to table '\(name)', and at most \(Self.maximumColumns) can be",
                help: "leave some out, or split the table")
        }
        if locator.isEmpty {
            return Finding(
                "the columns of table '\(name)' hide every name of its row id, and it has no primary key",
                help: "rename one of its columns rowid, _rowid_ and oid")
        }
        return nil
    }
}
