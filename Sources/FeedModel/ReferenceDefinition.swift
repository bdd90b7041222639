/// A mapping's reference to rows of a table, found by one of their columns.
package struct ReferenceDefinition: Sendable, Hashable {
    package var table: String
    package var column: String
    /// Columns that are set where a row is created.
    package var set: [String]
    /// True where the reference creates rows. Only a unique column tells these apart.
    package var needsUniqueColumn: Bool
    package var place: String

    package init(table: String, column: String, set: [String], needsUniqueColumn: Bool, place: String) {
        self.table = table
        self.column = column
        self.set = set
        self.needsUniqueColumn = needsUniqueColumn
        self.place = place
    }
}
