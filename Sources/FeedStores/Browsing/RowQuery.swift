package import FeedModel

/// A question for the rows of one table: which, in which order, and after which row.
package struct RowQuery: Sendable, Equatable {
    /// A mistake of the one who asks, or a question that takes too long.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package let description: String
        /// True if the time for the question was over.
        package let isLate: Bool

        package init(_ description: String, isLate: Bool = false) {
            self.description = description
            self.isLate = isLate
        }

        /// - Parameter limit: the time that there was.
        package static func late(after limit: Duration) -> Problem {
            Problem(
                "the query took longer than \(limit.components.seconds) s and was cancelled; filter by a column that has an "
                    + "index, or sort by none", isLate: true)
        }

        package static func noColumn(_ name: String, of table: BrowsedTable) -> Problem {
            let known = table.columns.prefix(20).map(\.name).joined(separator: ", ")
            return Problem("table '\(table.name)' has no column '\(name)'; it has \(known)")
        }
    }

    /// A condition on a column.
    package struct Filter: Sendable, Equatable {
        package enum Comparison: String, Sendable, CaseIterable {
            case equal = "eq"
            case less = "lt"
            case greater = "gt"
            /// The value's text has the other within, in upper or lower case.
            case contains = "contains"
            case null = "null"
        }

        package var column: String
        package var comparison: Comparison
        /// As it was written; the store reads it as a value of the column's type.
        package var value: String

        package init(column: String, _ comparison: Comparison, _ value: String) {
            self.column = column
            self.comparison = comparison
            self.value = value
        }
    }

    /// The order of the rows. Rows of one value, and all without an order, are in that of their keys; NULL comes last.
    package struct Order: Sendable, Equatable {
        package var column: String
        package var isDescending: Bool

        package init(_ column: String, isDescending: Bool = false) {
            self.column = column
            self.isDescending = isDescending
        }
    }

    package var table: String
    package var filters: [Filter] = []
    package var order: Order?
    /// The place of the row after which the rows begin.
    package var after: RowPlace?
    package var limit: Int
    /// The columns, in lower case, that are declared as decimals: a store may have no type for them.
    package var decimals: Set<String> = []

    package init(table: String, limit: Int) {
        self.table = table
        self.limit = limit
    }
}

/// The position of a row in its table: its identity, and the value by which rows are sorted.
package struct RowPlace: Sendable, Equatable {
    package var key: [StoredValue]
    /// Nil if the rows are sorted by nothing but their keys.
    package var sorted: StoredValue?

    package init(key: [StoredValue], sorted: StoredValue? = nil) {
        self.key = key
        self.sorted = sorted
    }
}

/// A row with the values of all columns of its table.
package struct BrowsedRow: Sendable, Equatable {
    package var values: [StoredValue]
    package var place: RowPlace

    package init(values: [StoredValue], place: RowPlace) {
        self.values = values
        self.place = place
    }
}
