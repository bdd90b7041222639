import FeedModel
import FeedStaging

/// A table of a plan's own schema that takes the place of one of the store's: with its columns and unique keys, and once
/// it is filled with its rows. Triggers, and foreign keys of tables that the source does not use, lead to the original.
struct TableDouble {
    let original: StoredTable
    let schema: String
    /// False if it was made for a script that has not changed it.
    var isKept: Bool
    /// The double's own name, which hides the original's.
    var double: String { original.name }
    var sql: String { "\(schema).\(double.postgresIdentifier)" }

    /// Makes the table. The original is locked as by a reader.
    init(of original: StoredTable, in schema: String, isKept: Bool, _ connection: PostgresConnection) throws {
        self.original = original
        self.schema = schema
        self.isKept = isKept
        try connection.execute("CREATE TABLE \(sql) (LIKE \(original.sql) INCLUDING ALL)")
    }

    /// - Throws: ``StoreError`` if a script has dropped it.
    func details(_ connection: PostgresConnection) throws -> StoredTable {
        guard let details = try Catalog(connection).table(double) else {
            throw StoreError(.schema, "the schema drops the table '\(original.name)', which a mapping writes")
        }
        return details
    }

    func addsColumns(_ connection: PostgresConnection) throws -> Bool {
        try details(connection).columns.contains { original.column($0.name) == nil }
    }

    /// Copies the rows of the original.
    func fill(_ connection: PostgresConnection) throws {
        let columns = try details(connection).columns.filter { !$0.isComputed }.compactMap { column in
            original.columns.first { $0.name == column.name }
        }
        let names = columns.map(\.sql).joined(separator: ", ")
        try connection.execute("DELETE FROM \(sql)")
        try connection.execute(
            "INSERT INTO \(sql) (\(names)) OVERRIDING SYSTEM VALUE SELECT \(names) FROM \(original.sql)")
        for column in columns where column.identity != nil {
            try connection.execute(
                """
                SELECT setval(pg_get_serial_sequence($1, $2), max(\(column.sql))) FROM \(sql)
                HAVING max(\(column.sql)) >= 1
                """, [.text(sql), .text(column.name)])
        }
        try connection.execute("ANALYZE \(sql)")
    }
}

/// Notices whether SQL takes a lock on something of the store that a reader would have to wait for.
struct RelationGuard {
    private let before: Set<Int64>

    init(_ connection: PostgresConnection) throws {
        before = Set(
            try connection.execute("SELECT c.oid::bigint FROM pg_catalog.pg_class c").compactMap { try $0.int64(0) })
    }

    /// Returns the name of an object that existed before and is locked now.
    func changed(_ connection: PostgresConnection) throws -> String? {
        try connection.execute(
            """
            SELECT c.oid::bigint, n.nspname || '.' || c.relname FROM pg_catalog.pg_locks l
            JOIN pg_catalog.pg_class c ON c.oid = l.relation
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE l.pid = pg_backend_pid() AND l.mode = 'AccessExclusiveLock' AND n.nspname NOT LIKE 'pg\\_%'
            AND n.nspname NOT LIKE 'tributary\\_plan\\_%' ORDER BY c.relkind IN ('i', 'I'), 2
            """
        ).first { before.contains(try $0.int64(0) ?? 0) }?.string(1)
    }
}
