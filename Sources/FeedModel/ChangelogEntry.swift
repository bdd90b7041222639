package import Foundation

/// A row of the changelog.
package struct ChangelogEntry: Sendable, Equatable {
    package var id: Int64
    package var table: String
    /// The changed row's key: a value, or a JSON array of several as text.
    package var key: StoredValue
    package var operation: String
    /// The row before and after the change; nil where nobody has asked for it.
    package var images: RowImages?

    package init(id: Int64, table: String, key: StoredValue, operation: String, images: RowImages? = nil) {
        self.id = id
        self.table = table
        self.key = key
        self.operation = operation
        self.images = images
    }

    /// The bytes that the key and the values take, about.
    package var size: Int { key.size + (images?.size ?? 0) }
}

/// A row before and after a change. Either is nil where there was no row, and where it is not known.
package struct RowImages: Sendable, Equatable {
    package struct Value: Sendable, Equatable {
        package var column: String
        package var value: StoredValue

        package init(_ column: String, _ value: StoredValue) {
            self.column = column
            self.value = value
        }
    }

    package var before: [Value]?
    package var after: [Value]?
    /// The types of the table's columns, by their names in lower case; empty where the table is gone.
    package var types: [String: String]

    package init(before: [Value]? = nil, after: [Value]? = nil, types: [String: String] = [:]) {
        self.before = before
        self.after = after
        self.types = types
    }

    fileprivate var size: Int {
        [before, after].reduce(0) { sum, row in
            (row ?? []).reduce(sum) { $0 + $1.column.utf8.count + $1.value.size }
        }
    }
}

extension [RowImages.Value] {
    /// The values by their columns, as JSON has them.
    package var object: [String: StoredValue] { Dictionary(map { ($0.column, $0.value) }) { first, _ in first } }
}

extension StoredValue {
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .blob(let data): data.count
        case .null, .integer, .real: 8
        }
    }
}

extension ChangelogEntry: Encodable {
    package enum CodingKeys: String, CodingKey { case id, table, key, operation, before, after }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(table, forKey: .table)
        try container.encode(key, forKey: .key)
        try container.encode(operation, forKey: .operation)
        guard let images else { return }
        try container.encode(images.before?.object, forKey: .before)
        try container.encode(images.after?.object, forKey: .after)
    }
}

/// A recorded run, as those see it who follow the changelog.
package struct ChangelogRun: Sendable, Equatable {
    package var position: RunPosition
    /// Without the reports of its requests.
    package var report: RunReport
    /// The ids among which its part of the changelog is; nil where it has changed nothing. On a server, rows of other runs
    /// may be among them.
    package var changes: ClosedRange<Int64>?

    package init(position: RunPosition, report: RunReport, changes: ClosedRange<Int64>?) {
        self.position = position
        self.report = report
        self.changes = changes
    }

    package var finishedAt: Date { report.finishedAt }
}
