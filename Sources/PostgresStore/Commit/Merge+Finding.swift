import FeedStaging
import FeedStores
import PostgresClient

/// Staged rows that the store has.
extension Merge {
    /// Returns the store's table as SQL names it: with its schema, as a trigger may have made a temporary table of that name.
    func stored(_ table: StagingTable) throws -> String { try details(of: table.table.name).sql }

    /// Returns a FROM clause with the staged rows as `s` and the stored ones as `m` where they are the same.
    func stagedAndStored(_ table: StagingTable) throws -> String {
        "\(table.staged) s JOIN \(try stored(table)) m ON \(try isSameRow(table, "s", "m"))"
    }

    /// Returns the name under which SQL finds one of the merge's own tables.
    func nameOfWorkTable(_ name: String) -> String {
        "\(StagingTable.temporarySchema).\("tributary_\(name)".sqlIdentifier)"
    }

    func hasWorkTable(_ table: String) throws -> Bool {
        try !connection.execute("SELECT to_regclass($1)", [.text(table)])[0].isNull(0)
    }

    /// Returns an expression for a hash that a staged and a stored row have in common where they are the same row as a
    /// whole. Rows with one hash need not be the same.
    ///
    /// Whole rows are too large for an index, and this is not.
    func rowHash(_ table: StagingTable, _ alias: String) throws -> String {
        let details = try details(of: table.table.name)
        let columns = try table.allColumns.map { try details.needed($0.name) }.filter {
            Self.hashedTypes.contains($0.typeName)
        }
        guard !columns.isEmpty else { return "0::bigint" }
        return "hash_record_extended(ROW(\(columns.map { $0.exact(alias) }.joined(separator: ", "))), 0)"
    }

    /// Types that have hashes in every version of PostgreSQL.
    private static let hashedTypes: Set<String> = [
        "bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "varchar", "bytea", "uuid", "date",
        "timestamp", "timestamptz",
    ]
}
