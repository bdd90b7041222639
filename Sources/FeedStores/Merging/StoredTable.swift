package import FeedModel
package import FeedStaging

/// A table's identity within its store, whatever it is called.
package typealias TableID = String

/// A table of the main store, as a merge needs to know it.
package protocol StoredTable: Sendable {
    var id: TableID { get }
    /// The name by which staged rows know the table.
    var name: String { get }
    /// The name in SQL, with its schema.
    var sql: String { get }
    var info: TableInfo { get }
    var storedColumns: [any StoredColumn] { get }
    func storedColumn(_ name: String) -> (any StoredColumn)?
    /// The columns that identify a row of the table.
    var locator: [RowLocator] { get }
    /// True if rows are located by a place that changes with each update.
    var isLocatedByPlace: Bool { get }
    /// The SQL name of the number that each row has in addition to its columns; nil without one.
    var rowID: String? { get }
    /// The columns that always identify a row; empty without such columns.
    var lastingKey: [String] { get }
    /// The columns by which a merge identifies rows by default; nil without any.
    var mergeKey: [String]? { get }
    /// Returns a condition that an outer join has found a row of the table.
    func isThere(_ alias: String) -> String
    /// The other tables to which the table's foreign keys refer.
    var parents: Set<TableID> { get }
    /// The foreign keys that refer to the table.
    var children: [ReferringKey] { get }
    /// True if rows refer to others of the table by a key that is checked with each statement.
    var checksOwnRows: Bool { get }
}

/// A column of a table of the main store.
package protocol StoredColumn: Sendable {
    var name: String { get }
    /// The type, as the store writes it.
    var type: String { get }
    /// True if dates can be in the column.
    var holdsDates: Bool { get }
    /// Returns a condition that the date under an alias has expired. Values that are not dates never expire.
    func hasExpired(_ expiry: Retention.Expiry, _ alias: String) -> String
    /// The type and collation of a work table's column that holds its values.
    var definition: String { get }
    var isNotNull: Bool { get }
    /// True if no value can be written.
    var isGenerated: Bool { get }
    /// True if the value comes from other columns.
    var isComputed: Bool { get }

    /// Returns a condition that two values differ: texts byte by byte, NULL from every value.
    ///
    /// - Parameter exactly: true if equal values of two spellings differ, too: `1.0` and `1.00`, or 1 and 1.0.
    func differs(_ left: String, from right: String, exactly: Bool) -> String

    /// Returns an expression for the value under an alias, to be compared with one of another column as a foreign key
    /// compares them.
    func value(_ alias: String, comparedWith other: any StoredColumn) -> String

    /// Returns a value of the column in a row of a query's result.
    func value(_ row: any SQLRow, _ index: Int) throws -> StoredValue

    /// Returns the text of a value whose spelling ``value(_:_:)`` does not show: `1.0` and `1.00` are one number; nil if it
    /// shows all values as they are.
    func spelling(_ row: any SQLRow, _ index: Int) -> String?

    /// Returns a value in the form in which a statement binds it, to compare it with the column's values or to write it.
    func bound(_ value: StoredValue) -> SQLText.Value
}

/// A part of the identity of a row: an SQL name within the row, and the definition of a work table's column for it.
package struct RowLocator: Sendable {
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

/// A foreign key, seen from the table to which it refers.
package struct ReferringKey: Sendable {
    /// What becomes of the rows that refer to a row which is deleted or gets another key.
    package enum Action: Sendable {
        /// Nothing; a check at the end of the statement or transaction may refuse it.
        case none
        case restrict
        case setNull
        case setDefault
        case cascade

        package var changesChildren: Bool { self != .none && self != .restrict }
    }

    package var child: TableID
    package var columns: [String]
    /// The columns of the table to which the key refers.
    package var targets: [String]
    package var onDelete: Action
    package var onUpdate: Action
    /// True if a row can only be deleted after or together with the rows that refer to it.
    package var holdsParents: Bool

    package init(
        child: TableID, columns: [String], targets: [String], onDelete: Action, onUpdate: Action, holdsParents: Bool
    ) {
        self.child = child
        self.columns = columns
        self.targets = targets
        self.onDelete = onDelete
        self.onUpdate = onUpdate
        self.holdsParents = holdsParents
    }
}

extension StoredTable {
    package var primaryKey: [String] { info.primaryKey }

    /// The columns of ``locator`` under an alias, as a list of SQL.
    package func locators(_ alias: String) -> String {
        locator.map { "\(alias).\($0.sql)" }.joined(separator: ", ")
    }

    /// Returns a column that the merge needs.
    package func needed(_ name: String) throws -> any StoredColumn {
        guard let column = storedColumn(name) else {
            throw StoreError(.schema, "table '\(self.name)' no longer has the column '\(name)'")
        }
        return column
    }
}

extension StoredColumn {
    package var sql: String { name.sqlIdentifier }

    package func spelling(_ row: any SQLRow, _ index: Int) -> String? { nil }

    package func bound(_ value: StoredValue) -> SQLText.Value { SQLText.Value(value) }
}

extension [any StoredColumn] {
    /// The columns of an alias, as a list of SQL.
    package func list(_ alias: String) -> String { map { "\(alias).\($0.sql)" }.joined(separator: ", ") }
}
