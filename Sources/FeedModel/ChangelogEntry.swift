package import Foundation

/// A row of the changelog.
package struct ChangelogEntry: Sendable, Equatable {
    package var id: Int64
    package var table: String
    /// The changed row's key: a value, or a JSON array of several as text.
    package var key: StoredValue
    package var operation: String

    package init(id: Int64, table: String, key: StoredValue, operation: String) {
        self.id = id
        self.table = table
        self.key = key
        self.operation = operation
    }

    /// The bytes that the key takes, about.
    package var size: Int {
        switch key {
        case .text(let text): text.utf8.count
        case .blob(let data): data.count
        case .null, .integer, .real: 8
        }
    }
}

extension ChangelogEntry: Encodable {
    package enum CodingKeys: String, CodingKey { case id, table, key, operation }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(table, forKey: .table)
        try container.encode(key, forKey: .key)
        try container.encode(operation, forKey: .operation)
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

    package var finishedAt: Date { report.startedAt + report.seconds }
}
