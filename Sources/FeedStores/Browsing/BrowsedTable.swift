package import FeedModel
package import Foundation

/// A table whose rows can be looked at.
package struct BrowsedTable: Sendable, Equatable {
    package struct Column: Sendable, Equatable {
        package var name: String
        /// The type, as the store writes it; empty if a column of SQLite's has none.
        package var type: String

        package init(name: String, type: String) {
            self.name = name
            self.type = type
        }
    }

    /// Columns whose values are those of a row of another table, by a foreign key.
    package struct Link: Sendable, Equatable {
        package var columns: [String]
        /// A table that can be looked at.
        package var table: String
        package var targets: [String]

        package init(columns: [String], table: String, targets: [String]) {
            self.columns = columns
            self.table = table
            self.targets = targets
        }
    }

    package var name: String
    package var columns: [Column]
    /// The columns that identify a row; empty if only its locator does.
    package var key: [String]
    /// The sources that have written it, by name.
    package var sources: [String]
    package var links: [Link] = []

    package init(name: String, columns: [Column], key: [String], sources: [String]) {
        self.name = name
        self.columns = columns
        self.key = key
        self.sources = sources
    }

    /// Returns the place of a column; of two that differ by case alone, that of the one which is spelled so.
    package func position(of column: String) -> Int? {
        columns.firstIndex { $0.name == column }
            ?? columns.firstIndex { $0.name.lowercased() == column.lowercased() }
    }
}

/// A value of a column, and the number of rows that have it.
package struct ValueCount: Sendable, Equatable {
    package var value: StoredValue
    package var count: Int
}

/// The values of a column, and the number of rows in which they were counted.
package struct ValueCounts: Sendable, Equatable {
    package var values: [ValueCount]
    package var rows: Int
}

/// A change of a row in the changelog.
package struct RowWriting: Sendable, Equatable {
    package var run: Int64
    /// Nil, as the time is, where the run is forgotten.
    package var source: String?
    package var startedAt: Date?
    /// `insert`, `update` or `delete`.
    package var operation: String
}
