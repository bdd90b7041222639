/// The contents of the rows that a mapping stages for one table, and their treatment in the merge.
package struct RowShape: Sendable, Hashable {
    package var table: String
    /// Columns whose values are given, in the order of the values.
    package var columns: [String]
    /// Columns that the merge fills by looking up a row. The values to look up follow those of `columns`.
    package var references: [Reference]
    /// Columns that are written only where the row is new.
    package var insertOnly: Set<String>
    package var within: Within?
    /// The tables whose rows within each row are sent with it, and are deleted where they are missing (``Within``).
    package var mirroredWithin: Set<String> = []
    /// The tables of records around each row's, by whose keys the row refers to them. Their numbers follow the values to
    /// look up.
    package var enclosing: [String] = []
    /// True if each row has a number, given last, by which rows of other tables refer to it.
    package var numbersRecords = false
    /// True if each row says, last of all, whether its record is deleted. Such a row deletes the one that has its
    /// key.
    package var marksDeleted = false
    /// Which of several records with one key counts.
    package var duplicates = Duplicates.last
    /// True if the rows are staged as targets of references, once for each reference.
    package var isLookUp = false

    /// A column that holds the primary key of a row of another table. That row is found by its own values or, where
    /// `lookups` is empty, by the number of the record that was staged for it.
    package struct Reference: Sendable, Hashable {
        package var column: String
        package var table: String
        /// The columns of the other table that are compared; none where the record's number is given.
        package var lookups: [String]
        package var missing: Missing

        package init(column: String, table: String, lookups: [String], missing: Missing) {
            self.column = column
            self.table = table
            self.lookups = lookups
            self.missing = missing
        }
    }

    /// Which of several records with one key counts; `discard` where none may be.
    package enum Duplicates: String, Sendable, CaseIterable {
        case last, first, discard
    }

    /// The treatment of a row whose reference finds nothing.
    package enum Missing: String, Sendable, CaseIterable {
        case discard, null, create
    }

    /// A mirror that deletes only children of parents that the run has sent.
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
