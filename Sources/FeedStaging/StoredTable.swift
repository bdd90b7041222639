package import FeedModel

/// A table's identity within its store, whatever it is called.
package typealias TableID = String

/// A table of a main store, as the store's catalog describes it.
package struct StoredTable: Sendable {
    /// The kinds of tables, by the letters of PostgreSQL's `pg_class` where it has them.
    package enum Kind: String, Sendable, Decodable {
        case table = "r"
        case partitioned = "p"
        case view = "v"
        case materializedView = "m"
        case foreign = "f"
        case virtual
        /// A table of SQLite's own.
        case shadow

        package var isTable: Bool { self == .table || self == .partitioned }

        var description: String {
            switch self {
            case .table: "table"
            case .partitioned: "partitioned table"
            case .view: "view"
            case .materializedView: "materialized view"
            case .foreign: "foreign table"
            case .virtual: "virtual table"
            case .shadow: "table of SQLite's own"
            }
        }
    }

    /// What lets values be there only once.
    package struct Uniqueness: Sendable, Decodable {
        package var columns: [String]
        /// The collations by which values are the same; nil if their bytes decide.
        package var collations: [String]?
        /// The columns that its expressions and its condition mention, too.
        package var mentioned: [String]
        package var isPrimary: Bool
        /// True if no two rows have the same values in the columns at any moment: it has neither expressions nor a
        /// condition, is not deferrable, and is no exclusion constraint's.
        package var isPlain: Bool

        package init(columns: [String], collations: [String]) {
            self.columns = columns
            self.collations = collations
            mentioned = []
            isPrimary = false
            isPlain = true
        }
    }

    /// A foreign key: the tables and columns on both sides, and the effect of a parent's change on its children.
    package struct ForeignKey: Sendable, Decodable {
        /// What becomes of the children, by the letters of PostgreSQL's `pg_constraint`.
        package enum Action: String, Sendable, Decodable {
            /// Nothing; a check at the end of the statement or transaction may refuse it.
            case none = "a"
            case restrict = "r"
            case cascade = "c"
            case setNull = "n"
            case setDefault = "d"

            package var changesChildren: Bool { self != .none && self != .restrict }
        }

        package var child: TableID
        package var columns: [String]
        package var parent: TableID
        /// The parent's name in declarations.
        package var parentName: String
        /// The parent's columns; empty if they are its primary key.
        package var targets: [String]
        package var onDelete: Action
        package var onUpdate: Action
        /// True if the key can be checked at the end of the transaction.
        package var isDeferrable: Bool

        package init(
            child: TableID, columns: [String], parent: TableID, parentName: String, targets: [String],
            onDelete: Action, onUpdate: Action
        ) {
            self.child = child
            self.columns = columns
            self.parent = parent
            self.parentName = parentName
            self.targets = targets
            self.onDelete = onDelete
            self.onUpdate = onUpdate
            isDeferrable = true
        }

        /// True if a row can only be deleted after or together with the rows that refer to it.
        package var holdsParents: Bool { onDelete != .none || !isDeferrable }
    }

    /// A part of the identity of a row: an SQL name within the row, and the definition of a work table's column for it.
    package struct Locator: Sendable {
        package var sql: String
        package var definition: String
        /// The column of the table; nil if it is not a column.
        package var column: String?

        package init(sql: String, definition: String, column: String? = nil) {
            self.sql = sql
            self.definition = definition
            self.column = column
        }
    }

    package let id: TableID
    /// The name in declarations and the changelog, by which staged rows know the table.
    package let name: String
    /// The name in SQL, with its schema.
    package let sql: String
    package let kind: Kind
    package var columns: [Column] { didSet { places = NameIndex(columns.lazy.map(\.name)) } }
    private var places: NameIndex
    /// Empty for a table without a declared primary key.
    package let primaryKey: [String]
    /// The column whose value the store generates if none is given.
    package let generatedKey: String?
    package let uniquenesses: [Uniqueness]
    /// The table's own foreign keys.
    package let foreignKeys: [ForeignKey]
    /// The foreign keys by which tables, also this one, refer to it.
    package var children: [ForeignKey]
    /// The columns, as SQL names them, that identify a row of the table.
    package let locator: [Locator]
    /// The SQL name of the number that each row has in addition to its columns; nil without one.
    package let rowID: String?
    /// False if only the primary key identifies a row.
    package let identifiesRows: Bool
    /// The columns that always identify a row; empty without such columns.
    package let lastingKey: [String]
    /// The columns by which a merge identifies rows by default; nil without any.
    package let mergeKey: [String]?
    /// The most columns that a mapping may write: the store's limit, less those that staging adds.
    package let maximumColumns: Int
    /// The schema and the name within it.
    package var schema: String
    package var relation: String
    /// True if the name finds the table without its schema.
    package var isVisible = true
    /// True for a part of a partitioned table.
    package var isPartition = false
    /// A text that changes with every change of the definition, and with TRUNCATE; empty in a file, whose schema has a
    /// version.
    package var mark = ""
    package var isStrict = false
    /// A conflict clause of the table's constraints, by which SQLite replaces or skips rows: `ON CONFLICT REPLACE`
    /// (lang_conflict.html); nil without one.
    package var conflictClause: String?

    package init(
        id: TableID, name: String, schema: String, relation: String, sql: String, kind: Kind, columns: [Column],
        primaryKey: [String],
        generatedKey: String?, uniquenesses: [Uniqueness], foreignKeys: [ForeignKey], children: [ForeignKey],
        locator: [Locator], rowID: String?, identifiesRows: Bool, lastingKey: [String], mergeKey: [String]?,
        maximumColumns: Int
    ) {
        self.id = id
        self.name = name
        self.schema = schema
        self.relation = relation
        self.sql = sql
        self.kind = kind
        self.columns = columns
        places = NameIndex(columns.lazy.map(\.name))
        self.primaryKey = primaryKey
        self.generatedKey = generatedKey
        self.uniquenesses = uniquenesses
        self.foreignKeys = foreignKeys
        self.children = children
        self.locator = locator
        self.rowID = rowID
        self.identifiesRows = identifiesRows
        self.lastingKey = lastingKey
        self.mergeKey = mergeKey
        self.maximumColumns = maximumColumns
    }
}

extension StoredTable {
    /// A column of a table.
    package struct Column: Sendable, Equatable, Decodable {
        package enum Identity: String, Sendable, Decodable {
            /// GENERATED ALWAYS AS IDENTITY: a value is written only by saying so.
            case always = "a"
            case byDefault = "d"
        }

        package var name: String
        /// As the store writes it: any text in SQLite; with its length, schema and domain in PostgreSQL: `numeric(10,2)`.
        package var type: String
        /// The type below all domains, as SQL writes it.
        package var baseType: String
        /// PostgreSQL's name of ``baseType`` without schema and length: `int4`, `citext`; empty in SQLite.
        package var typeName = ""
        /// The category of ``baseType`` (`pg_type.typcategory`): N for numbers, S for texts, D for dates, B for booleans;
        /// empty in SQLite.
        package var category = ""
        /// The type that gives a staging table's column the affinity of the values. SQLite accepts any text as a type, and
        /// `ANY` means another affinity in a table that is not STRICT.
        package var stagedType: String
        /// True also where a domain refuses NULL.
        package var isNotNull: Bool
        /// True if the value comes from other columns (GENERATED … AS).
        package var isComputed: Bool
        package var identity: Identity?
        /// True if the default is the next number of a sequence, as for `serial`.
        package var isSerial = false
        /// The collation, as SQL names it; nil for types without one.
        package var collation: String?
        /// False if the collation considers texts of different bytes equal.
        package var isDeterministic = true
        /// True if values compare only as texts, because the type has no equality that distinguishes all values.
        package var comparesAsText = false
        /// False if the column considers texts of different bytes equal, or pads them.
        package var isBytewise = true
        /// False if values may be equal in the store although they differ where they are staged, such as 1.0 and 1.00.
        package var bytesDecide = true

        package init(
            name: String, type: String, stagedType: String, isNotNull: Bool, isComputed: Bool, collation: String?
        ) {
            self.name = name
            self.type = type
            baseType = type
            self.stagedType = stagedType
            self.isNotNull = isNotNull
            self.isComputed = isComputed
            self.collation = collation
        }

        package var sql: String { name.sqlIdentifier }

        /// True if no value can be written.
        package var isGenerated: Bool { isComputed || identity == .always }
    }

    /// Returns the column with exactly this name, or else the only one whose name differs from it by case.
    package func column(_ name: String) -> Column? { places[name].map { columns[$0] } }

    package var writableColumns: [Column] { columns.filter { !$0.isGenerated } }

    /// Returns a column that the merge needs.
    package func needed(_ name: String) throws -> Column {
        guard let column = column(name) else {
            throw StoreError(.schema, "table '\(self.name)' no longer has the column '\(name)'")
        }
        return column
    }

    /// The columns of ``locator`` under an alias, as a list of SQL.
    package func locators(_ alias: String) -> String {
        locator.map { "\(alias).\($0.sql)" }.joined(separator: ", ")
    }

    /// True if rows are located by a place that changes with each update.
    package var isLocatedByPlace: Bool { locator.last?.sql == "ctid" }

    /// Returns a condition that an outer join has found a row of the table.
    package func isThere(_ alias: String) -> String { "\(alias).\(locator[0].sql) IS NOT NULL" }

    /// The other tables to which the table's foreign keys refer.
    package var parents: Set<TableID> { Set(foreignKeys.map(\.parent)).subtracting([id]) }

    /// True if rows refer to others of the table by a key that is checked with each statement.
    package var checksOwnRows: Bool { foreignKeys.contains { $0.parent == id && !$0.isDeferrable } }

    /// The columns of each unique index.
    package var uniqueIndexes: [[String]] { uniquenesses.filter(\.isPlain).map(\.columns) }

    /// Returns the collations under which the key's values are unique, by column; nil if no unique index covers the
    /// key.
    package func collations(ofKey key: [String]) -> [String]? {
        let wanted = Set(key.map { $0.lowercased() })
        if key.count == 1, key[0].lowercased() == generatedKey?.lowercased() { return ["BINARY"] }
        let plain = uniquenesses.filter(\.isPlain)
        guard let index = plain.first(where: { Set($0.columns.map { $0.lowercased() }) == wanted }) else { return nil }
        return key.map { column in
            let place = index.columns.firstIndex { $0.lowercased() == column.lowercased() }
            return place.flatMap { index.collations?[$0] } ?? "BINARY"
        }
    }

    /// Returns the reason for which rows with this many columns cannot be written to the table; nil if they can.
    package func problem(ofWriting count: Int) -> Finding? {
        if !kind.isTable {
            return Finding(
                "'\(name)' is a \(kind.description), and rows are merged into tables only",
                help: "write to a table, and let a trigger on it fill '\(name)'")
        }
        if let conflictClause {
            return Finding(
                "table '\(name)' is defined with \(conflictClause), by which SQLite replaces or skips rows without an error",
                help: "create the table again without the clause, and copy its rows")
        }
        if count > maximumColumns {
            return Finding(
                "\(count) columns are to be written to table '\(name)', and at most \(maximumColumns) can be",
                help: "leave some out, or split the table")
        }
        if locator.isEmpty {
            return Finding(
                "the columns of table '\(name)' hide every name of its row id, and it has no primary key",
                help: "rename one of its columns rowid, _rowid_ and oid")
        }
        var seen: [String: String] = [:]
        for column in columns {
            if let other = seen.updateValue(column.name, forKey: column.name.lowercased()) {
                return Finding(
                    "the columns '\(other)' and '\(column.name)' of table '\(name)' differ by case only",
                    help: "rename one")
            }
        }
        return nil
    }
}

extension [StoredTable.Column] {
    /// The columns of an alias, as a list of SQL.
    package func list(_ alias: String) -> String { map { "\(alias).\($0.sql)" }.joined(separator: ", ") }
}

/// Positions by names: of exactly this name, or else of the only one that differs from it by case.
package struct NameIndex: Sendable {
    private var exact: [String: Int] = [:]
    /// By the names in lower case; nil for ambiguous ones.
    private var folded: [String: Int?] = [:]

    package init(_ names: some Sequence<String>) {
        for (place, name) in names.enumerated() {
            if exact[name] == nil { exact[name] = place }
            let lower = name.lowercased()
            folded[lower] = .some(folded[lower] == nil ? place : nil)
        }
    }

    package subscript(name: String) -> Int? { exact[name] ?? folded[name.lowercased()] ?? nil }
}
