package import FeedModel
import FeedStaging
package import FeedStores
import Foundation
import GRDB
import Merging

/// Rows that are too old.
extension SQLiteStore {
    /// Returns true if rows have expired.
    package func hasExpiredRows(_ expiries: [Retention.Expiry]) throws -> Bool {
        try pool.read { db in
            try SQLiteDialect().hasExpiredRows(expiries, db) { try SQLiteTable(db, named: $0) }
        }
    }

    /// Returns the properties of a column by which rows expire; nil if it does not exist.
    ///
    /// - Parameter scope: the columns whose values are given.
    package func dateColumn(_ column: String, of table: String, within scope: [String]) throws -> DateColumn? {
        try pool.read { db in
            guard let info = try TableInfo(db, table: table, schema: "main"), let found = info.column(column) else {
                return nil
            }
            let indexes = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_index_list(?, 'main') WHERE NOT partial", arguments: [info.name])
            let isIndexed = try indexes.contains { index in
                let columns = try String?.fetchAll(
                    db, sql: "SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", arguments: [index])
                return DateColumn.isServed(by: columns.map { $0 ?? "" }, found.name, within: scope)
            }
            return DateColumn(type: found.declaredType, holdsDates: found.holdsDates, isIndexed: isIndexed)
        }
    }
}

extension SQLiteColumn {
    var type: String { column.declaredType }
    var holdsDates: Bool { column.holdsDates }

    func hasExpired(_ expiry: Retention.Expiry, _ alias: String) -> String {
        let value = "\(alias).\(sql)"
        let (end, day) = (expiry.endText.sqlLiteral, expiry.endDay.sqlLiteral)
        // The first condition finds the rows by an index; a text without a time, or with a space before it, needs the last.
        return """
            \(value) < \(end) AND \(value) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            AND CASE length(\(value)) WHEN 10 THEN \(value) < \(day) ELSE replace(\(value), ' ', 'T') < \(end) END
            """
    }
}

extension TableInfo.Column {
    /// True if dates are stored as text.
    fileprivate var holdsDates: Bool { Affinity(declaredType: declaredType).holds("TEXT", declaredType: declaredType) }
}

/// What is asked of a store to tell how it is.
extension SQLiteStore {
    package func probe() throws {
        try checkPlace()
        try probing.check()
    }

    /// The bytes of the file and of its log.
    package func size() throws -> Int64 {
        var bytes: Int64 = 0
        for path in [path, path + "-wal"] {
            var status = stat()
            if stat(path, &status) == 0 { bytes += Int64(status.st_size) }
        }
        return bytes
    }

}
