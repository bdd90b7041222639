package import FeedModel
package import FeedStore
import PostgresClient

/// What staging and merging know of tables.
extension PostgresStore {
    /// Runs a body with a connection.
    ///
    /// - Throws: ``StoreError`` in place of `PostgresError`; other errors of the body as they are.
    func read<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        do { return try connections.withConnection(body) } catch let error as PostgresError {
            throw StoreError(error.isTransient || error.kind == .configuration ? .unavailable : .database, "\(error)")
        }
    }

    package func tableInfo(_ name: String) throws -> TableInfo {
        if let known = tableDetails.known(name) { return known.info }
        return try read { try details(of: name, $0).info }
    }

    /// - Throws: ``StoreError`` where the store has no such table.
    func details(of name: String, _ connection: PostgresConnection) throws -> StoreTableDetails {
        guard let details = try tableDetails.details(of: name, in: connection) else {
            throw StoreError(
                .schema,
                "the store has no table '\(name)'; create it in the file that 'schema' of [store] names, or in a migration"
            )
        }
        return details
    }

    /// Forgets cached tables that have changed. Each run that uses tables begins with it.
    package func renewTableInfos() throws { try read(tableDetails.renew) }

    /// Returns how a table compares the columns of a scope.
    package func comparison(of table: String, columns: Set<String>) throws -> TableComparison {
        guard !columns.isEmpty else { return TableComparison() }
        return try read { try tableDetails.comparison(of: table, columns: columns, in: $0) }
    }
}

extension TableDetailsCache {
    /// Returns how a table compares the columns of scopes. Columns that do not exist are left out.
    ///
    /// - Parameter columns: the names in lower case.
    func comparison(
        of table: String, columns: Set<String>, in connection: PostgresConnection
    ) throws -> TableComparison {
        let details = try details(of: table, in: connection)
        return TableComparison(
            columns: columns.reduce(into: [:]) { comparisons, name in
                comparisons[name] = details?.column(name)?.comparison
            })
    }
}

extension StoreColumn {
    /// How values that are given as text compare: as far as it can be told here, what PostgreSQL holds equal is equal.
    /// Collations of the users' own, and other texts of one date, are not known here and compare byte by byte.
    var comparison: ColumnComparison {
        switch typeName {
        case "int2", "int4", "int8", "numeric", "oid": ColumnComparison(affinity: .numeric)
        case "float4", "float8": ColumnComparison(affinity: .real)
        default: ColumnComparison(affinity: .text, collation: stagedCollation)
        }
    }
}
