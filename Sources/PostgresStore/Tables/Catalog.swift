import PostgresClient

/// Reads the definitions of tables from PostgreSQL's catalog, as it is at this moment.
struct Catalog {
    let connection: PostgresConnection

    init(_ connection: PostgresConnection) { self.connection = connection }

    /// Returns the table that this name stands for without a schema: the one of exactly this name, or else the only one
    /// whose name differs from it by case. Temporary tables are not seen.
    func table(_ name: String) throws -> TableDetails? { try tables(named: [name])[name] }

    /// Returns those of the tables that exist, by the names that were asked for.
    func tables(named names: [String]) throws -> [String: TableDetails] {
        guard !names.isEmpty else { return [:] }
        // The names themselves are of the collation "C", in which only ASCII letters have two cases, as in SQLite.
        let found = try tables(
            where: """
                pg_table_is_visible(c.oid) AND lower(c.relname) IN (SELECT lower(n COLLATE "C") FROM unnest($1::text[]) n)
                """, [.textArray(PostgresTextArray(names))])
        return names.reduce(into: [:]) { tables, name in
            tables[name] = TableDetails.resolve(name, in: found, name: \.name)
        }
    }

    /// Returns every table whose name can be used without a schema, by name, except Tributary's and the parts of
    /// partitioned tables.
    func usersTables() throws -> [TableDetails] {
        try tables(
            where: """
                c.relkind IN ('r', 'p') AND NOT c.relispartition AND pg_table_is_visible(c.oid)
                AND c.relname NOT LIKE 'tributary\\_%' AND c.relname <> 'grdb_migrations'
                """, [])
    }

    /// Returns every view that this role may read and whose name can be used without a schema.
    func views() throws -> [TableDetails] {
        try tables(
            where: "c.relkind = 'v' AND pg_table_is_visible(c.oid) AND has_table_privilege(c.oid, 'SELECT')", [])
    }

    /// Returns the temporary tables of this session.
    func temporaryTables() throws -> [TableDetails] {
        try tables(where: "c.relnamespace = pg_my_temp_schema()", [], persistence: "=")
    }

    /// Returns the marks of those tables that still exist, and whether their names can be used without a schema.
    func marks(of ids: [UInt32]) throws -> [UInt32: (mark: String, isVisible: Bool)] {
        guard !ids.isEmpty else { return [:] }
        let rows = try connection.execute(
            """
            SELECT c.oid, \(Self.mark), pg_table_is_visible(c.oid) FROM pg_catalog.pg_class c
            WHERE c.oid = ANY ($1::oid[])
            """, [Self.array(ids)])
        return try rows.reduce(into: [:]) { marks, row in
            marks[try id(row, 0)] = (row.string(1) ?? "", try row.bool(2) ?? false)
        }
    }

    /// The transactions that wrote the rows of the catalog on a table. Every change of a definition writes one of them
    /// anew, VACUUM and ANALYZE do not.
    private static let mark = """
        c.oid || '.' || c.xmin || '.' || hashtextextended(concat_ws('/',
            (SELECT string_agg(a.xmin::text, ',' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
                WHERE a.attrelid = c.oid AND a.attnum > 0),
            (SELECT string_agg(d.xmin::text, ',' ORDER BY d.adnum) FROM pg_catalog.pg_attrdef d
                WHERE d.adrelid = c.oid),
            (SELECT string_agg(i.indexrelid || ':' || i.xmin, ',' ORDER BY i.indexrelid) FROM pg_catalog.pg_index i
                WHERE i.indrelid = c.oid),
            (SELECT string_agg(k.oid || ':' || k.xmin, ',' ORDER BY k.oid) FROM pg_catalog.pg_constraint k
                WHERE k.conrelid = c.oid)), 0)
        """

    private func tables(
        where condition: String, _ parameters: [PostgresValue?], persistence: String = "<>"
    ) throws -> [TableDetails] {
        let rows = try connection.execute(
            """
            SELECT c.oid, n.nspname, c.relname, c.relkind, c.relispartition, \(Self.mark)
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence \(persistence) 't'
            AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND \(condition)
            ORDER BY c.relname, n.nspname
            """, parameters)
        guard !rows.isEmpty else { return [] }
        let ids = Self.array(try rows.map { try id($0, 0) })
        let columns = try columns(of: ids)
        let indexes = try indexes(of: ids)
        let foreignKeys = try foreignKeys(of: ids)
        return try rows.compactMap { row in
            let oid = try id(row, 0)
            guard let kind = TableDetails.Kind(rawValue: row.string(3) ?? "") else { return nil }
            let indexes = indexes[oid] ?? []
            return TableDetails(
                oid: oid, schema: row.string(1) ?? "", name: row.string(2) ?? "", kind: kind,
                isPartition: try row.bool(4) ?? false, mark: row.string(5) ?? "", columns: columns[oid] ?? [],
                primaryKey: indexes.first(where: \.isPrimary)?.columns ?? [],
                uniqueIndexes: indexes.filter(\.isImmediate).map(\.columns), foreignKeys: foreignKeys[oid] ?? [])
        }
    }

    private static func array(_ ids: [UInt32]) -> PostgresValue {
        .text("{\(ids.map(String.init).joined(separator: ","))}")
    }

    func id(_ row: PostgresRow, _ column: Int) throws -> UInt32 { UInt32(try row.int64(column) ?? 0) }
}
