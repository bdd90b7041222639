import FeedStaging
import FeedStores
import Foundation
import PostgresClient

/// Points in time in Tributary's own tables: `timestamptz`, to the millisecond, as SQLite's store keeps them.
enum PostgresDate {
    /// The columns of `tributary_source` that hold a point in time.
    static let columns: Set<String> = ["last_run", "last_commit", "next_due", "asked_until", "failing_since"]

    /// Returns an expression that ``PostgresRow/date(_:)`` reads.
    static func sql(_ column: String) -> String { "extract(epoch FROM \(column))" }

    static func value(_ date: Date) -> PostgresValue { .text(StoreDate.text(date)) }
}

extension PostgresRow {
    /// Reads a column of ``PostgresDate/sql(_:)``.
    func date(_ column: Int) throws -> Date? { try double(column).map { Date(timeIntervalSince1970: $0) } }
}
