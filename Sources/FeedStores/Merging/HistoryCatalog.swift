package import FeedStaging
package import Foundation
package import FeedModel

/// The histories of a store's tables as its catalog knows them on one connection, and the statements that make and change
/// them.
package protocol HistoryCatalog {
    var session: any SQLSession { get }
    var dialect: any SQLDialect { get }

    /// Returns the histories of the store by name, including those of dropped tables.
    func names() throws -> [HistoryName]

    /// Returns a table of the store in this transaction; nil if it does not exist.
    func table(_ name: String) throws -> StoredTable?

    /// Returns a history and its columns for those of a table; nil if it does not exist.
    func columns(of history: String, for table: StoredTable) throws -> FoundHistory?

    /// Creates the history of a table, with indexes on the run and on the columns that identify a row.
    func create(for table: StoredTable, _ columns: [StoredTable.Column]) throws -> HistoryName

    /// Adds a column that the table has gained. Rows that were replaced before get the value that the table's own got.
    func add(_ column: StoredTable.Column, of table: StoredTable, to history: HistoryName) throws

    func drop(_ history: HistoryName) throws

    /// Creates a view, or replaces it.
    ///
    /// - Parameter mark: a text that ``columns(of:for:)`` returns with the view.
    func show(_ view: HistoryName, _ query: String, as mark: String) throws

    func drop(view: HistoryName) throws

    /// Returns the name by which a view refers to a table.
    ///
    /// - Parameter sql: the name in other statements.
    func nameInView(_ table: String, sql: String) -> String

    /// Makes the texts of values, over which digests are, the same whatever the session's settings are. For the
    /// transaction.
    func fixTexts() throws

    /// Returns an expression for a value as ``value(_:_:of:)`` reads it.
    func selected(_ value: String) -> String

    /// Returns a value of a row.
    ///
    /// - Parameter column: nil for a column that the table has lost.
    func value(_ row: any SQLRow, _ index: Int, of column: StoredTable.Column?) throws -> StoredValue
}

extension HistoryCatalog {
    /// Returns the histories of all tables that are still there, by name.
    package func histories() throws -> [HistoryShape] {
        try names().compactMap { try HistoryShape(self, $0) }
    }

    /// Deletes runs that began before a date, with all that is kept of them: a bounded number of rows each time.
    ///
    /// - Parameter kept: the tables whose histories outlive the runs, in lower case, with the time before which their
    ///   entries are old.
    /// - Returns: true if there may be more.
    package func forgetRuns(before date: Date, keeping kept: [String: Date], _ retention: RunRetention) throws -> Bool {
        var isUnfinished = try retention.forgetRuns(before: date)
        for history in try names()
        where try retention.forgetEntries(of: history.sql, before: kept[history.table.lowercased()]) > 0 {
            isUnfinished = true
        }
        return isUnfinished
    }
}

/// A history as the catalog has it.
package struct FoundHistory {
    package var history: HistoryName
    /// The columns for those of the table, and whether they accept the table's present values.
    package var columns: [(name: String, fits: Bool)]
    /// What the catalog has under the name of the ``FeedModel/VersionsView``, with the mark of a view; nil if the name is free.
    package var versions: String?

    package init(history: HistoryName, columns: [(name: String, fits: Bool)], versions: String?) {
        self.history = history
        self.columns = columns
        self.versions = versions
    }
}

/// The name of a table that keeps what commits replaced.
package struct HistoryName: Sendable {
    package var schema: String
    package var name: String

    package init(schema: String, name: String) {
        self.schema = schema
        self.name = name
    }

    /// As SQL names it.
    package var sql: String { "\(schema.sqlIdentifier).\(name.sqlIdentifier)" }

    /// The table whose rows it keeps.
    package var table: String { String(name.dropFirst(HistoryTable.prefix.count)) }
}
