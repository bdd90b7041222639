package import FeedModel
package import FeedStaging
import FeedStores
import PostgresClient

/// The properties of tables for staging and merging.
extension PostgresStore {
    package func tableInfo(_ name: String) throws -> TableInfo {
        if let known = tableDetails.known(name) { return known.info }
        return try ask { try details(of: name, $0).info }
    }

    /// - Throws: ``StoreError`` if the store has no such table.
    func details(of name: String, _ connection: PostgresConnection) throws -> TableDetails {
        guard let details = try tableDetails.details(of: name, in: connection) else {
            throw StoreError(
                .schema,
                "the store has no table '\(name)'; create it in the file that 'schema' of [store] names, or in a migration"
            )
        }
        return details
    }

    /// Forgets cached tables that have changed. Each run that uses tables begins with it. Its time does not grow with the
    /// number of tables that other runs use.
    ///
    /// - Parameter tables: the names of the tables that the run uses; nil if it may use any.
    package func renewTableInfos(of tables: Set<String>?) throws {
        try ask { try tableDetails.renew(tables.map(tableDetails.knownWithRelatives), $0) }
    }

    package func comparison(of table: String, columns: Set<String>) throws -> TableComparison {
        try ask { try tableDetails.comparison(of: table, columns: columns, in: $0) }
    }
}
