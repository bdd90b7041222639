import FeedStaging
import Foundation

/// Reads the present definitions of tables from PostgreSQL's catalog.
struct Catalog {
    let connection: PostgresConnection

    init(_ connection: PostgresConnection) { self.connection = connection }

    /// Returns the table that this name stands for: the one of exactly this name along the search path, or else the only
    /// one whose name differs from it by case. `schema.table` stands for a table of a schema that the search path does not
    /// have. Temporary tables are not seen.
    ///
    /// - Throws: ``StoreError`` for a schema that the search path has.
    func table(_ name: String) throws -> StoredTable? { try tables(named: [name])[name] }

    /// Returns the existing tables among these names, by the requested name.
    ///
    /// - Throws: ``StoreError`` for a name with a schema that the search path has.
    func tables(named names: [String]) throws -> [String: StoredTable] {
        guard !names.isEmpty else { return [:] }
        // The names themselves are of the collation "C", in which only ASCII letters have two cases, as in SQLite.
        let wanted = #"(SELECT lower(n COLLATE "C") FROM unnest($1::text[]) n)"#
        let qualified = names.contains { QualifiedName($0) != nil }
        let found = try tables(
            where: """
                (\(Self.isVisible) AND lower(c.relname) IN \(wanted)\
                \(qualified ? #" OR lower((n.nspname || '.' || c.relname) COLLATE "C") IN "# + wanted : ""))
                """, [.textArray(PostgresTextArray(names))])
        let visible = found.filter(\.isVisible)
        let places = NameIndex(visible.lazy.map(\.relation))
        let all = NameIndex(found.lazy.map { "\($0.schema).\($0.relation)" })
        return try names.reduce(into: [:]) { tables, name in
            if let place = places[name] {
                tables[name] = visible[place]
            } else if qualified, let table = all[name].map({ found[$0] }) {
                // A table has one name: two would hide from each other which requests write it.
                if table.isVisible { throw QualifiedName.needless(name, table.relation) }
                tables[name] = table
            }
        }
    }

    /// Returns the existing tables, in any schema.
    func tables(_ ids: [TableID]) throws -> [StoredTable] {
        try ids.isEmpty ? [] : tables(where: "c.oid = ANY ($1::oid[])", [Self.array(ids)])
    }

    /// Returns every table whose name can be used without a schema, by name, except Tributary's and the parts of
    /// partitioned tables.
    func usersTables() throws -> [StoredTable] {
        try tables(
            where: """
                c.relkind IN ('r', 'p') AND NOT c.relispartition AND \(Self.isVisible)
                AND c.relname NOT LIKE 'tributary\\_%' AND c.relname <> 'grdb_migrations'
                """, [])
    }

    /// Returns every view that this role may read and whose name can be used without a schema.
    func views() throws -> [StoredTable] {
        try tables(
            where: "c.relkind = 'v' AND \(Self.isVisible) AND has_table_privilege(c.oid, 'SELECT')", [])
    }

    /// Returns the temporary tables of this session.
    func temporaryTables() throws -> [StoredTable] {
        try tables(where: "c.relnamespace = pg_my_temp_schema()", [], persistence: "=")
    }

    /// Returns the marks of those tables that still exist, and whether their names can be used without a schema.
    func marks(of ids: [TableID]) throws -> [TableID: (mark: String, isVisible: Bool)] {
        guard !ids.isEmpty else { return [:] }
        let statement = PostgresStatement(
            """
            SELECT c.oid, \(Self.mark), pg_table_is_visible(c.oid) FROM pg_catalog.pg_class c
            WHERE c.oid = ANY ($1::oid[])
            """, [Self.array(ids)], isPrepared: true)
        // Every plan of it would be a custom one, which takes the server longer to make than to execute.
        let setting = PostgresStatement(
            "SELECT set_config('plan_cache_mode', 'force_generic_plan', true)", isPrepared: true)
        let statements = connection.transactionStatus == .idle ? [setting, statement] : [statement]
        guard let rows = try connection.execute(statements).last else { return [:] }
        return try rows.reduce(into: [:]) { marks, row in
            marks[row.string(0) ?? ""] = (row.string(1) ?? "", try row.bool(2) ?? false)
        }
    }

    private func tables(
        where condition: String, _ parameters: [PostgresValue?], persistence: String = "<>"
    ) throws -> [StoredTable] {
        let decoder = JSONDecoder()
        return try connection.execute(
            """
            SELECT \(Self.description) FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence \(persistence) 't'
            AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
            AND \(condition) ORDER BY c.relname, n.nspname
            """, parameters
        ).map { try decoder.decode(StoredTable.self, from: Data(($0.string(0) ?? "").utf8)) }
    }

    private static func array(_ ids: [TableID]) -> PostgresValue {
        .text("{\(ids.joined(separator: ","))}")
    }
}
