/// A table that has been made for a run, or a column that has been added to one.
package struct SchemaAddition: Sendable, Hashable {
    package var table: String
    /// Nil for a whole table.
    package var column: String?

    package init(table: String, column: String? = nil) {
        self.table = table
        self.column = column
    }
}
