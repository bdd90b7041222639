/// A table of the main store as one sees it who mirrors a document onto it.
package struct StoreTable: Sendable {
    package struct ForeignKey: Sendable {
        package var column: String
        package var table: String
        /// The other table's column.
        package var target: String
    }

    package var name: String
    /// Those that can be written.
    package var columns: [(name: String, type: String)]
    package var primaryKey: [String]
    package var uniqueKeys: [[String]]
    /// Those of one column.
    package var foreignKeys: [ForeignKey]
}
