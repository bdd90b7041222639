/// A table of the main store, for a document that mirrors the store's schema.
package struct StoreTable: Sendable {
    package struct ForeignKey: Sendable {
        package var column: String
        package var table: String
        /// The other table's column.
        package var target: String

        package init(column: String, table: String, target: String) {
            self.column = column
            self.table = table
            self.target = target
        }
    }

    package var name: String
    /// The columns that can be written.
    package var columns: [(name: String, type: String)]
    package var primaryKey: [String]
    package var uniqueKeys: [[String]]
    /// The foreign keys that consist of one column.
    package var foreignKeys: [ForeignKey]

    package init(
        name: String, columns: [(name: String, type: String)], primaryKey: [String], uniqueKeys: [[String]],
        foreignKeys: [ForeignKey]
    ) {
        self.name = name
        self.columns = columns
        self.primaryKey = primaryKey
        self.uniqueKeys = uniqueKeys
        self.foreignKeys = foreignKeys
    }
}
