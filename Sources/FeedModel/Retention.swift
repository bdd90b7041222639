package import Foundation

/// What becomes of rows that the feed no longer has, or that are too old: the columns that mark rows as gone, and the
/// dates by which rows expire.
package struct Retention: Sendable, Equatable {
    /// The rows of a table's scope that expire.
    package struct Expiry: Sendable, Hashable {
        package var table: String
        package var scope: [String: String]
        package var column: String
        /// Rows with a date before this one expire.
        package var end: Date
        /// True where the column holds days: a row expires when its whole day is before `end`.
        package var isOfDays: Bool

        package init(table: String, scope: [String: String], column: String, end: Date, isOfDays: Bool) {
            self.table = table
            self.scope = scope
            self.column = column
            self.end = end
            self.isOfDays = isOfDays
        }
    }

    /// The columns that a mirror sets instead of deleting rows, by their tables' names in lower case.
    package var goneColumns: [String: String]
    package var expiries: [Expiry]
    /// The time of the commit, which rows that are gone get.
    package var time: Date

    package init(goneColumns: [String: String] = [:], expiries: [Expiry] = [], time: Date = Date()) {
        self.goneColumns = goneColumns
        self.expiries = expiries
        self.time = time
    }

    /// Returns the column that marks a table's rows as gone; nil where they are deleted.
    package func goneColumn(of table: String) -> String? {
        goneColumns.isEmpty ? nil : goneColumns[table.lowercased()]
    }
}
