package import FeedModel
import FeedStaging
package import FeedStores
import GRDB

/// Rows that are too old.
extension SQLiteStore {
    /// Returns true if rows have expired.
    package func hasExpiredRows(_ expiries: [Retention.Expiry]) throws -> Bool {
        try pool.read { db in
            try expiries.contains { expiry in
                guard let table = try TableInfo(db, table: expiry.table, schema: "main"),
                    let rows = try expiry.rows(of: table)
                else { return false }
                return try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(rows))") == true
            }
        }
    }

    /// Returns what is known of a column by which rows expire; nil where there is none.
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

extension Retention.Expiry {
    /// Returns a FROM clause for the rows of the store, `m`, that have expired; nil where the table has no such column
    /// and need not have it.
    func rows(of table: TableInfo) throws -> String? {
        try isExpired(table, "m").map { "main.\(table.name.sqlIdentifier) m WHERE \($0)" }
    }

    /// Returns the condition that a row of the store has expired; nil as ``rows(of:)`` does.
    func isExpired(_ table: TableInfo, _ alias: String) throws -> String? {
        guard let isExpired = try condition(on: table, alias) else { return nil }
        let scope = scope.sorted { $0.key < $1.key }.map {
            "\(alias).\($0.key.sqlIdentifier) = \($0.value.sqlLiteral)"
        }
        return (scope + [isExpired]).joinedConditions("AND")
    }

    /// Returns the condition that a row has expired; nil where the table has no such column and need not have it.
    ///
    /// - Throws: ``StoreError`` for a column without dates.
    func condition(on table: TableInfo, _ alias: String) throws -> String? {
        guard let found = table.column(column) else {
            if mayLackColumn { return nil }
            throw problem(type: nil)
        }
        guard found.holdsDates else { throw problem(type: found.declaredType) }
        let value = "\(alias).\(found.name.sqlIdentifier)"
        let (end, day) = (endText.sqlLiteral, endDay.sqlLiteral)
        // The first condition finds the rows by an index; a text without a time, or with a space before it, needs the
        // last. Texts that are no dates never expire.
        return """
            \(value) < \(end) AND \(value) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            AND CASE length(\(value)) WHEN 10 THEN \(value) < \(day) ELSE replace(\(value), ' ', 'T') < \(end) END
            """
    }
}

extension TableInfo.Column {
    /// True where dates are stored as text.
    fileprivate var holdsDates: Bool { Affinity(declaredType: declaredType).holds("TEXT", declaredType: declaredType) }
}
