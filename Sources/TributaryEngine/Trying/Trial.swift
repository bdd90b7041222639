package import FeedModel

/// The rows of a document by a declaration, and the unmapped parts.
package struct Trial: Sendable, Encodable {
    /// The input of a trial.
    package enum Subject: Sendable {
        /// An `http:` or `https:` address.
        case address(String)
        /// A document.
        case document(String)
    }

    package struct Table: Sendable, Encodable {
        package var table: String
        /// The number of its records, and the reason for its key, if the declaration was inferred.
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

    /// The most shown rows of a table.
    package static let mostRows = 20
    /// The most bytes of a document, decompressed.
    package static let mostBytes = 8 << 20

    /// The declaration as a block of `sources.toml`; empty if none could be inferred.
    package var toml: String
    package var tables: [Table] = []
    /// Unmapped elements and attributes.
    package var unmapped: [Unmapped] = []
    /// The paths of columns without a value.
    package var empty: [String] = []
    package var skipped = 0
    package var notes: [String] = []
    /// The errors of a trial without rows; empty otherwise.
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
