import FeedModel
import FeedStaging

/// What PostgreSQL lets no column change its type for: views, rules, triggers, policies and computed columns that name it.
struct ColumnDependents {
    let connection: PostgresConnection

    /// Checks that nothing depends on columns that are to change.
    ///
    /// - Parameter columns: the names of the columns, by the ids of their tables.
    /// - Returns: the views of versions that do, as SQL names them. The next commit makes them again.
    /// - Throws: ``StoreError`` naming what else depends on them.
    func check(_ columns: [(table: TableID, name: String)]) throws -> [String] {
        guard !columns.isEmpty else { return [] }
        let places = columns.indices.map { "($\(2 * $0 + 1)::oid, $\(2 * $0 + 2)::text)" }
        let found = try connection.execute(
            """
            WITH changed AS (
                SELECT a.attrelid, a.attnum, a.attname FROM (VALUES \(places.joined(separator: ", "))) v (id, name)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = v.id AND a.attname = v.name
            )
            SELECT DISTINCT CASE
                WHEN c.relkind IN ('v', 'm') THEN 'the ' || CASE c.relkind WHEN 'm' THEN 'materialized ' ELSE '' END || 'view '
                    || c.oid::regclass
                ELSE 'the ' || pg_describe_object(d.classid, d.objid, d.objsubid) END,
                a.attname, a.attrelid::regclass::text,
                CASE WHEN obj_description(c.oid, 'pg_class') LIKE 'versions of tributary\\_history\\_%' THEN c.oid::regclass::text
                    END
            FROM changed a
            JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass
                AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
            LEFT JOIN pg_catalog.pg_rewrite r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND r.oid = d.objid
            LEFT JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
            LEFT JOIN pg_catalog.pg_attrdef f ON d.classid = 'pg_catalog.pg_attrdef'::regclass AND f.oid = d.objid
            LEFT JOIN pg_catalog.pg_attribute g
                ON g.attrelid = f.adrelid AND g.attnum = f.adnum AND g.attgenerated <> '' AND g.attnum <> a.attnum
            LEFT JOIN pg_catalog.pg_trigger t
                ON d.classid = 'pg_catalog.pg_trigger'::regclass AND t.oid = d.objid AND NOT t.tgisinternal
            WHERE r.oid IS NOT NULL OR g.attnum IS NOT NULL OR t.oid IS NOT NULL
                OR d.classid = 'pg_catalog.pg_policy'::regclass
            ORDER BY 1
            """,
            columns.flatMap { [PostgresValue.text($0.table), .text($0.name)] })
        let versions = Set(found.compactMap { $0.string(3) }).sorted()
        let others = found.filter { $0.string(3) == nil }
        guard let first = others.first else { return versions }
        let column = "column '\(first.string(1) ?? "")' of table '\(first.string(2) ?? "")'"
        let names = others.compactMap { $0.string(0) }.reduce(into: [String]()) { names, name in
            if !names.contains(name) { names.append(name) }
        }
        throw StoreError(
            .schema,
            "\(names.formatted) \(names.count == 1 ? "uses" : "use") \(column), and PostgreSQL changes the type of no column "
                + "that is used; nothing was changed: drop \(names.count == 1 ? "it" : "them"), migrate, and create "
                + "\(names.count == 1 ? "it" : "them") again, with the same grants")
    }
}

extension [String] {
    /// `a`, `a and b`, `a, b and c`.
    fileprivate var formatted: String {
        count < 2 ? joined() : dropLast().joined(separator: ", ") + " and " + (last ?? "")
    }
}
