package import FeedModel
import FeedStaging
package import FeedStores

/// Rows that are too old.
extension PostgresStore {
    /// Returns true if rows have expired.
    package func hasExpiredRows(_ expiries: [Retention.Expiry]) throws -> Bool {
        let names = Set(expiries.map(\.table))
        return try askForRows("the expired rows of \(names.sorted().joined(separator: ", "))") { connection, settings in
            try connection.inDiscardedTransaction(isReadOnly: true, settings: settings) {
                let tables = try tableDetails.reread(names, in: connection)
                return try PostgresDialect().hasExpiredRows(expiries, connection) { tables[$0] }
            }
        }
    }

    /// Returns the properties of a column by which rows expire; nil if it does not exist.
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
                FROM pg_catalog.pg_index i WHERE i.indrelid = \(details.id) AND i.indpred IS NULL AND i.indisvalid
                """)
            let isIndexed = try indexes.contains { index in
                let columns = try index.stringArray(0) ?? []
                return DateColumn.isServed(by: columns.map { $0 ?? "" }, found.name, within: scope)
            }
            return DateColumn(type: found.type, holdsDates: PostgresDialect().holdsDates(found), isIndexed: isIndexed)
        }
    }
}
