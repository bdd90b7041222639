/// Rows that a stack mirrors completely: rows that it does not send are deleted.
package struct MirroredRows: Sendable, Hashable {
    package var table: String
    package var scope: [String: String]
    package var window: MirrorWindow?

    package init(table: String, scope: [String: String], window: MirrorWindow? = nil) {
        self.window = window
        self.table = table
        self.scope = scope
    }
}

/// A moving window. A mirror deletes only rows whose value in a column is not below the smallest staged value.
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
    /// The path from the mirrored table to the table that has the column; empty if it is the same table. Children are
    /// in the window if their parents are.
    package var parents: [Parent]

    package init(column: String, parents: [Parent] = []) {
        self.column = column
        self.parents = parents
    }
}
