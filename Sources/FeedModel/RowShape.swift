/// What the rows that a mapping stages for one table consist of, and what becomes of them in the merge.
package struct RowShape: Sendable, Hashable {
    package var table: String
    /// Columns whose values are given, in the order in which they are.
    package var columns: [String]
    /// Columns that the merge fills by looking a row up; the values to look up follow those of `columns`.
    package var references: [Reference]
    /// Columns that are written only where the row is new.
    package var insertOnly: Set<String>
    package var within: Within?
    /// Whether each row has a number, given last, by which rows of other tables refer to it.
    package var numbersRecords = false
    /// Whether the rows are there for others to refer to, each as often as they do.
    package var isLookUp = false

    /// A column that holds the primary key of a row of another table: found by that row's own values, or, where none are
    /// named, by the number of the record that it was staged as.
    package struct Reference: Sendable, Hashable {
        package var column: String
        package var table: String
        /// Columns of the other table that are compared; none where the record's number is given.
        package var lookups: [String]
        package var missing: Missing

        package init(column: String, table: String, lookups: [String], missing: Missing) {
            self.column = column
            self.table = table
            self.lookups = lookups
            self.missing = missing
        }
    }

    /// What becomes of a row whose reference finds nothing.
    package enum Missing: String, Sendable, CaseIterable {
        case discard, null, create
    }

    /// A mirror that deletes only among the children of parents that the run has sent.
    package struct Within: Sendable, Hashable {
        /// The child's column.
        package var column: String
        /// The parent's table, whose primary key the column holds.
        package var parent: String

        package init(column: String, parent: String) {
            self.column = column
            self.parent = parent
        }
    }

    package init(
        table: String, columns: [String], references: [Reference] = [], insertOnly: Set<String> = [],
        within: Within? = nil
    ) {
        self.table = table
        self.columns = columns
        self.references = references
        self.insertOnly = insertOnly
        self.within = within
    }
}
