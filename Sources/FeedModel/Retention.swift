package import Foundation

/// What becomes of rows that the feed no longer has, or that are too old: the columns that mark rows as gone, and the
/// dates by which rows expire.
package struct Retention: Sendable, Equatable {
    /// The rows of a table's scope that expire.
    package struct Expiry: Sendable, Hashable {
        /// A table whose rows are mapped within those of another, and go with them.
        package struct Descendant: Sendable, Hashable {
            package var table: String
            /// The column that holds the key of the other row.
            package var column: String
            package var parent: String

            package init(table: String, column: String, parent: String) {
                self.table = table
                self.column = column
                self.parent = parent
            }
        }

        package var table: String
        package var scope: [String: String]
        package var column: String
        /// Rows with a date before this one expire.
        package var end: Date
        /// True if the column holds days: a row expires when its whole day is before `end`.
        package var isOfDays: Bool
        /// True if tables without the column keep their rows.
        package var mayLackColumn: Bool
        /// The tables within, each after its parent.
        package var descendants: [Descendant] = []

        package init(
            table: String, scope: [String: String], column: String, end: Date, isOfDays: Bool = false,
            mayLackColumn: Bool = false
        ) {
            self.table = table
            self.scope = scope
            self.column = column
            self.end = end
            self.isOfDays = isOfDays
            self.mayLackColumn = mayLackColumn
        }
    }

    /// The columns that a mirror sets instead of deleting rows, by their tables' names in lower case.
    package var deletionMarks: [String: String]
    /// The column with which any source marks a table's deleted rows, by the table's name in lower case. Look-ups prefer rows
    /// that are there.
    package var allMarks: [String: String] = [:]
    package var expiries: [Expiry]
    /// The tables with `deleted_when`, in lower case, with the tables mapped within them.
    package var deletedWithin: [String: [Expiry.Descendant]] = [:]
    /// The time of the commit, which rows that are gone get.
    package var time: Date

    package init(deletionMarks: [String: String] = [:], expiries: [Expiry] = [], time: Date = Date()) {
        self.deletionMarks = deletionMarks
        self.expiries = expiries
        self.time = time
    }

    /// Returns the column that marks a table's rows as gone; nil if they are deleted.
    package func deletionMark(of table: String) -> String? {
        deletionMarks.isEmpty ? nil : deletionMarks[table.lowercased()]
    }
}
