package import FeedModel

/// The rows that a document becomes by a declaration, and what of it is not mapped.
package struct Trial: Sendable, Encodable {
    /// What is tried.
    package enum Subject: Sendable {
        /// An `http:` or `https:` address.
        case address(String)
        /// A document itself.
        case document(String)
    }

    package struct Table: Sendable, Encodable {
        package var table: String
        /// The number of its records, and why its key was chosen, where the declaration was inferred.
        package var reason: String?
        package var key: [String] = []
        package var columns: [String] = []
        package var count = 0
        /// The first rows, each with a value for every column.
        package var rows: [[StoredValue]] = []
    }

    package struct Unmapped: Sendable, Encodable {
        package var path: String
        package var count: Int
    }

    /// The most rows of a table that are shown.
    package static let mostRows = 20
    /// The most bytes of a document, decompressed.
    package static let mostBytes = 8 << 20

    /// The declaration as a block of `sources.toml`; empty where none could be inferred.
    package var toml: String
    package var tables: [Table] = []
    /// Elements and attributes that no column takes.
    package var unmapped: [Unmapped] = []
    /// Paths of columns that found no value.
    package var empty: [String] = []
    package var skipped = 0
    package var notes: [String] = []
    /// Why there are no rows; empty where there are.
    package var problems: [String] = []

    package init(toml: String) { self.toml = toml }

    mutating func add(_ change: PlannedChange) {
        let index = tables.firstIndex { $0.table == change.table } ?? tables.endIndex
        if index == tables.endIndex { tables.append(Table(table: change.table)) }
        tables[index].key = change.key
        tables[index].columns = change.row.map(\.column)
        tables[index].count += 1
        if tables[index].rows.count < Self.mostRows { tables[index].rows.append(change.row.map(\.value)) }
    }
}
