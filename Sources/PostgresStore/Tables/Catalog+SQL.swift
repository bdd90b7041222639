/// Queries of the catalog. All of them are about the table `c`, a row of `pg_class`, in the schema `n`.
extension Catalog {
    /// The foreign keys that refer to the table. The catalog has no index on `confrelid`, but a constraint depends on the
    /// columns to which it refers.
    private static let referringKeys = """
        pg_catalog.pg_constraint k WHERE k.contype = 'f' AND k.confrelid = c.oid AND k.oid IN (
            SELECT d.objid FROM pg_catalog.pg_depend d
            WHERE d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = c.oid
                AND d.classid = 'pg_catalog.pg_constraint'::regclass)
        """

    /// True if the table's name can be used without a schema. Without the comparison of schemas, the server would ask the
    /// function about every table of the database, which costs far more.
    static let isVisible =
        "CASE WHEN n.nspname = ANY (current_schemas(true)) THEN pg_table_is_visible(c.oid) ELSE false END"

    /// The transactions that wrote the rows of the catalog on the table, and the names that its foreign keys have beyond
    /// it. Every change of the description changes it, VACUUM and ANALYZE do not.
    static let mark = """
        c.oid || '.' || c.xmin || '.' || hashtextextended(concat_ws('/',
            (SELECT s.nspname FROM pg_catalog.pg_namespace s WHERE s.oid = c.relnamespace),
            (SELECT string_agg(concat_ws(':', a.xmin, t.xmin), ',' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
                LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid AND t.typtype = 'd'
                WHERE a.attrelid = c.oid AND a.attnum > 0),
            (SELECT string_agg(d.xmin::text, ',' ORDER BY d.adnum) FROM pg_catalog.pg_attrdef d
                WHERE d.adrelid = c.oid),
            (SELECT string_agg(concat_ws(':', i.indexrelid, i.xmin), ',' ORDER BY i.indexrelid)
                FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid),
            (SELECT string_agg(concat_ws(':', k.oid, k.xmin, p.relname, \(names("k.confrelid", "k.confkey"))), ','
                ORDER BY k.oid) FROM pg_catalog.pg_constraint k
                LEFT JOIN pg_catalog.pg_class p ON p.oid = k.confrelid WHERE k.conrelid = c.oid),
            (SELECT string_agg(concat_ws(':', k.oid, k.xmin, \(names("k.conrelid", "k.conkey"))), ',' ORDER BY k.oid)
                FROM \(referringKeys))), 0)
        """

    /// True if more than the statement itself decides its effect on the table: triggers, rules, policies, or tables
    /// that inherit it.
    static let hasOwnRules = """
        c.relrowsecurity OR c.relhasrules OR c.relhassubclass OR c.relhastriggers AND EXISTS (
            SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal)
        """

    /// A ``StoredTable`` as JSON. Keys that PostgreSQL makes for the parts of a partitioned table, on the same other side
    /// as the table's own, are left out.
    static let description = """
        json_build_object('id', c.oid::text, 'schema', n.nspname, 'name', c.relname,
            'isVisible', pg_table_is_visible(c.oid), 'kind', c.relkind::text, 'isPartition', c.relispartition, 'mark', \(mark),
            'columns', (SELECT coalesce(json_agg(\(column) ORDER BY a.attnum), '[]') FROM \(columns)),
            'uniquenesses', (SELECT coalesce(json_agg(\(uniqueness) ORDER BY i.indexrelid), '[]')
                FROM pg_catalog.pg_index i
                WHERE i.indrelid = c.oid AND (i.indisunique OR i.indisexclusion) AND i.indislive),
            'foreignKeys', (SELECT coalesce(json_agg(\(foreignKey) ORDER BY k.oid), '[]')
                FROM pg_catalog.pg_constraint k WHERE k.contype = 'f' AND k.conrelid = c.oid AND NOT EXISTS (
                    SELECT FROM pg_catalog.pg_constraint o WHERE o.oid = k.conparentid AND o.conrelid = k.conrelid)),
            'children', (SELECT coalesce(json_agg(\(foreignKey) ORDER BY k.conrelid, k.oid), '[]')
                FROM \(referringKeys) AND NOT EXISTS (
                    SELECT FROM pg_catalog.pg_constraint o WHERE o.oid = k.conparentid AND o.confrelid = k.confrelid)))
        """

    /// The columns `a`, each with the type `b` below all domains of its own, and that of its elements, `e`. `OFFSET 0` makes
    /// the server look types up by their number: a database has two for each of its tables.
    private static let columns = """
        pg_catalog.pg_attribute a
        CROSS JOIN LATERAL (
            WITH RECURSIVE base (id, modifier, refuses_null) AS (
                SELECT a.atttypid, a.atttypmod, false
                UNION ALL
                SELECT t.typbasetype, t.typtypmod, base.refuses_null OR t.typnotnull
                FROM base CROSS JOIN LATERAL (SELECT * FROM pg_catalog.pg_type t WHERE t.oid = base.id OFFSET 0) t
                WHERE t.typtype = 'd')
            SELECT base.*, t.typname, t.typcategory, t.typelem
            FROM base CROSS JOIN LATERAL (SELECT * FROM pg_catalog.pg_type t WHERE t.oid = base.id OFFSET 0) t
            WHERE t.typtype <> 'd') b
        CROSS JOIN LATERAL (SELECT * FROM pg_catalog.pg_type e
            WHERE e.oid = CASE WHEN b.typcategory = 'A' AND b.typelem <> 0 THEN b.typelem ELSE b.id END OFFSET 0) e
        LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        LEFT JOIN pg_catalog.pg_collation o ON o.oid = a.attcollation
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        """

    /// Types without a B-tree's order have no equality, or one that considers different values equal (geometric types);
    /// so have `citext`, and `interval`: `1 mon` equals `30 days`.
    private static let column = """
        json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
            'baseType', format_type(b.id, b.modifier), 'typeName', b.typname, 'category', b.typcategory::text,
            'isNotNull', a.attnotnull OR b.refuses_null, 'isComputed', a.attgenerated <> '',
            'identity', nullif(a.attidentity::text, ''),
            'isSerial', coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false),
            'collation', o.collnamespace::regnamespace::text || '.' || quote_ident(o.collname),
            'isDeterministic', coalesce(o.collisdeterministic, true),
            'stagedType', CASE WHEN b.typname IN ('int2', 'int4', 'int8') THEN 'INTEGER'
                WHEN b.typname IN ('float4', 'float8') THEN 'REAL' WHEN b.typname = 'bytea' THEN 'BLOB' ELSE 'TEXT' END,
            'isBytewise', b.typname IN ('text', 'varchar'),
            'bytesDecide', b.typname IN ('int2', 'int4', 'int8') OR coalesce(o.collisdeterministic, true) AND (
                b.typname = 'text' OR b.typname = 'varchar' AND format_type(b.id, b.modifier) NOT LIKE '%(%'),
            'comparesAsText', NOT (e.typname NOT IN ('citext', 'interval') AND (
                e.typtype IN ('e', 'r', 'm') OR e.typcategory = 'S' OR EXISTS (
                    SELECT FROM pg_catalog.pg_opclass p JOIN pg_catalog.pg_am m ON m.oid = p.opcmethod
                    WHERE m.amname = 'btree' AND p.opcdefault AND p.opcintype = e.oid))))
        """

    private static let uniqueness = """
        json_build_object('columns', \(names("i.indrelid", "(i.indkey::int2[])[0:i.indnkeyatts - 1]")),
            'mentioned', ARRAY(SELECT a.attname::text FROM pg_catalog.pg_depend d
                JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = i.indexrelid
                    AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = i.indrelid
                    AND d.refobjsubid > 0),
            'isPrimary', i.indisprimary,
            'isPlain',
                i.indisunique AND i.indimmediate AND i.indisvalid AND i.indexprs IS NULL AND i.indpred IS NULL)
        """

    private static let foreignKey = """
        json_build_object('child', k.conrelid::text, 'parent', k.confrelid::text,
            'parentName', (SELECT CASE WHEN pg_table_is_visible(p.oid) THEN p.relname::text
                ELSE q.nspname || '.' || p.relname END
                FROM pg_catalog.pg_class p JOIN pg_catalog.pg_namespace q ON q.oid = p.relnamespace
                WHERE p.oid = k.confrelid),
            'columns', \(names("k.conrelid", "k.conkey")), 'targets', \(names("k.confrelid", "k.confkey")),
            'onDelete', k.confdeltype::text, 'onUpdate', k.confupdtype::text, 'isDeferrable', k.condeferrable)
        """

    /// Returns an array of the names of a table's columns with these numbers, in their order.
    private static func names(_ table: String, _ numbers: String) -> String {
        """
        ARRAY(SELECT a.attname::text FROM unnest(\(numbers)) WITH ORDINALITY n (number, place)
            JOIN pg_catalog.pg_attribute a ON a.attrelid = \(table) AND a.attnum = n.number ORDER BY n.place)
        """
    }
}
