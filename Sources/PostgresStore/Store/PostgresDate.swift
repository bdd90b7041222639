import FeedStores
import Foundation
import PostgresClient

/// Points in time in Tributary's own tables: `timestamptz`, to the millisecond, as SQLite's store keeps them.
enum PostgresDate {
    /// Returns an expression that `SQLRow.date` reads.
    static func sql(_ column: String) -> String { "extract(epoch FROM \(column))" }

    static func value(_ date: Date) -> PostgresValue { .text(StoreDate.text(date)) }
}
