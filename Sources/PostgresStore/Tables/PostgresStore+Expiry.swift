package import FeedModel
import FeedStaging
package import FeedStores
import PostgresClient

/// Rows that are too old.
extension PostgresStore {
    /// Returns true if rows have expired.
    package func hasExpiredRows(_ expiries: [Retention.Expiry]) throws -> Bool {
        try ask(readsRows: true) { connection in
            let tables = try tableDetails.reread(Set(expiries.map(\.table)), in: connection)
            return try expiries.contains { expiry in
                guard let table = tables[expiry.table], let rows = try expiry.rows(of: table) else { return false }
                return try connection.execute("SELECT EXISTS (SELECT 1 FROM \(rows))")[0].bool(0) == true
            }
        }
    }

    /// Returns what is known of a column by which rows expire; nil where there is none.
    ///
    /// - Parameter scope: the columns whose values are given.
    package func dateColumn(_ column: String, of table: String, within scope: [String]) throws -> DateColumn? {
        try ask { connection in
            guard let details = try tableDetails.reread([table], in: connection)[table],
                let found = details.column(column)
            else { return nil }
            let indexes = try connection.execute(
                """
                SELECT ARRAY(SELECT coalesce(a.attname::text, '') FROM unnest(i.indkey::int2[]) WITH ORDINALITY k (number, n)
                    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.n)
                FROM pg_catalog.pg_index i WHERE i.indrelid = \(details.oid) AND i.indpred IS NULL AND i.indisvalid
                """)
            let isIndexed = try indexes.contains { index in
                let columns = try index.stringArray(0) ?? []
                return DateColumn.isServed(by: columns.map { $0 ?? "" }, found.name, within: scope)
            }
            return DateColumn(type: found.type, holdsDates: found.holdsDates, isIndexed: isIndexed)
        }
    }
}

extension Retention.Expiry {
    /// Returns a FROM clause for the rows of the store, `m`, that have expired; nil where the table has no such column
    /// and need not have it.
    func rows(of table: TableDetails) throws -> String? {
        try isExpired(table, "m").map { "\(table.sql) m WHERE \($0)" }
    }

    /// Returns the condition that a row of the store has expired; nil as ``rows(of:)`` does.
    func isExpired(_ table: TableDetails, _ alias: String) throws -> String? {
        guard let isExpired = try condition(on: table, alias) else { return nil }
        let scope = try scope.sorted { $0.key < $1.key }.map {
            "\(alias).\(try table.needed($0.key).sql) = \($0.value.postgresLiteral)"
        }
        return (scope + [isExpired]).joinedConditions("AND")
    }

    /// Returns the condition that a row has expired; nil where the table has no such column and need not have it.
    ///
    /// - Throws: ``StoreError`` for a column without dates.
    func condition(on table: TableDetails, _ alias: String) throws -> String? {
        guard let found = table.column(column) else {
            if mayLackColumn { return nil }
            throw problem(type: nil)
        }
        guard found.holdsDates else { throw problem(type: found.type) }
        let value = "\(alias).\(found.sql)"
        let (end, day) = (endTime.postgresLiteral, endDay.postgresLiteral)
        guard found.category == "S" else {
            return "\(value) < \(found.typeName == "date" ? day : end)::\(found.typeName)"
        }
        // Texts that are no dates never expire.
        return """
            \(value) ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}' AND CASE length(\(value))
                WHEN 10 THEN \(value) COLLATE "C" < \(day) ELSE replace(\(value), ' ', 'T') COLLATE "C" < \(endText.postgresLiteral) END
            """
    }
}

extension ColumnDetails {
    /// True for dates, and for texts, which may be dates.
    fileprivate var holdsDates: Bool { category == "S" || ["date", "timestamp", "timestamptz"].contains(typeName) }
}
