/// A window that moves: a mirror deletes only rows whose value in a column is not below the smallest staged.
package struct MirrorWindow: Sendable, Hashable {
    /// A column that holds the key of a row of another table.
    package struct Parent: Sendable, Hashable {
        package var column: String
        package var table: String

        package init(column: String, table: String) {
            self.column = column
            self.table = table
        }
    }

    package var column: String
    /// Empty where the mirrored table has the column itself. Otherwise the way to the table that has it: children are in the
    /// window if their parents are.
    package var parents: [Parent]

    package init(column: String, parents: [Parent] = []) {
        self.column = column
        self.parents = parents
    }
}
