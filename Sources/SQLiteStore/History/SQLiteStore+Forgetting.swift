import FeedModel
import FeedStaging
import FeedStores
package import Foundation
import GRDB
import Ledger

extension SQLiteStore {
    /// Deletes runs that began before a date, with all that is kept of them, and histories that have ended and are empty.
    ///
    /// - Returns: true where there may be more.
    /// - Throws: ``StoreError``
    package func forgetRuns(before date: Date) throws -> Bool {
        try pool.write { db in
            let retention = db.ledger.retention
            var isUnfinished = try retention.forgetRuns(before: date)
            for name in try HistoryTable.all(db) {
                let table = "main.\(name.sqlIdentifier)"
                if try retention.forgetEntries(of: table) > 0 {
                    isUnfinished = true
                } else if HistoryTable.isFormer(name), try Row.fetchOne(db, sql: "SELECT 1 FROM \(table)") == nil {
                    try db.execute(sql: "DROP TABLE \(table)")
                }
            }
            return isUnfinished
        }
    }
}

extension HistoryTable {
    /// Returns the names of all histories, also of tables that are gone, and of those that have ended.
    static func all(_ db: Database) throws -> [String] {
        let isHistory = HistoryTable.patterns.map { "name LIKE \($0.sqlLiteral) ESCAPE '\\'" }
        return try String.fetchAll(
            db,
            sql: """
                SELECT name FROM main.sqlite_schema WHERE type = 'table' AND (\(isHistory.joined(separator: " OR ")))
                ORDER BY name
                """
        ).filter(HistoryTable.isHistory)
    }
}
