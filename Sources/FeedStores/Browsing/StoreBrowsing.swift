package import FeedModel
package import Foundation

/// The rows of the tables that sources write, read by connections that cannot write, each question within a time limit.
///
/// Tributary's own tables, and tables that no source writes, are none of them.
package protocol StoreBrowsing: AnyObject, Sendable {
    /// Returns existing tables that sources have written, by name.
    ///
    /// - Parameter names: only tables of these names; nil for all.
    func browsedTables(_ names: Set<String>?) throws -> [BrowsedTable]

    /// Returns the names of the tables that sources have written, as they name them, with the sources.
    func browsedNames() throws -> [String: [String]]

    /// Returns a table; nil if no source has written one of this name.
    func browsedTable(_ name: String) throws -> BrowsedTable?

    /// Reports the first rows of a query in their order, until the body returns false.
    ///
    /// - Throws: ``RowQuery/Problem``, ``StoreError``.
    func rows(_ query: RowQuery, within limit: Duration, _ body: (BrowsedRow) throws -> Bool) throws

    /// Returns the values of a column in rows of a query, the most frequent first. The query's limit is the most rows that are
    /// counted.
    ///
    /// - Parameter most: the most values.
    /// - Throws: ``RowQuery/Problem``, ``StoreError``.
    func values(of column: String, _ query: RowQuery, most: Int, within limit: Duration) throws -> ValueCounts

    /// Returns a row; nil if it does not exist.
    ///
    /// - Throws: ``RowQuery/Problem``, ``StoreError``.
    func row(_ key: [StoredValue], of table: String, within limit: Duration) throws -> BrowsedRow?

    /// Returns the last writings of a row that the changelog remembers, the last one first.
    ///
    /// - Parameter keys: the keys, each with its columns, by which requests are declared to tell the table's rows apart.
    /// - Throws: ``RowQuery/Problem``, ``StoreError``.
    func writings(
        of key: [StoredValue], in table: String, declared keys: [[String]], most: Int, within limit: Duration
    ) throws -> [RowWriting]

    /// Returns the last changes of a row of which the history has kept what was before, the last one first.
    ///
    /// - Returns: nil if the table has no history.
    /// - Throws: ``RowQuery/Problem``, ``StoreError``.
    func history(of key: [StoredValue], in table: String, most: Int, within limit: Duration) throws -> [RowChange]?
}

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

extension StoreBrowsing {
    package func browsedTables() throws -> [BrowsedTable] { try browsedTables(nil) }
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

    package init(values: [ValueCount], rows: Int) {
        self.values = values
        self.rows = rows
    }
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
