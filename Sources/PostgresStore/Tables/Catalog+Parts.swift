import PostgresClient
import FeedStaging
import FeedStores

/// Columns, unique indexes and foreign keys of tables, by the tables' object ids.
extension Catalog {
    struct UniqueIndex {
        var columns: [String]
        var isPrimary: Bool
        /// False for a deferrable constraint.
        var isImmediate: Bool
    }

    func columns(of tables: PostgresValue) throws -> [UInt32: [ColumnDetails]] {
        try connection.execute(Self.columnsSQL, [tables]).reduce(into: [:]) { columns, row in
            columns[try id(row, 0), default: []].append(
                ColumnDetails(
                    name: row.string(1) ?? "", type: row.string(2) ?? "", typeName: row.string(3) ?? "",
                    category: row.string(4)?.first ?? "U", isNotNull: try row.bool(5) ?? false,
                    isComputed: row.string(6) == "s",
                    identity: ColumnDetails.Identity(rawValue: row.string(7) ?? ""), isSerial: try row.bool(8) ?? false)
            )
        }
    }

    /// Returns those that are valid for every row, in the order of their creation.
    func indexes(of tables: PostgresValue) throws -> [UInt32: [UniqueIndex]] {
        try connection.execute(Self.indexesSQL, [tables]).reduce(into: [:]) { indexes, row in
            indexes[try id(row, 0), default: []].append(
                UniqueIndex(
                    columns: try names(row, 3), isPrimary: try row.bool(1) ?? false,
                    isImmediate: try row.bool(2) ?? false))
        }
    }

    func foreignKeys(of tables: PostgresValue) throws -> [UInt32: [TableInfo.ForeignKey]] {
        try connection.execute(Self.foreignKeysSQL, [tables]).reduce(into: [:]) { keys, row in
            keys[try id(row, 0), default: []].append(
                TableInfo.ForeignKey(
                    columns: try names(row, 2), parent: row.string(1) ?? "", targets: try names(row, 3)))
        }
    }

    private func names(_ row: PostgresRow, _ column: Int) throws -> [String] {
        try row.stringArray(column)?.compactMap(\.self) ?? []
    }

    /// `b` is the type below all domains, each of which may refuse NULL.
    private static let columnsSQL = """
        SELECT a.attrelid, a.attname, format_type(a.atttypid, a.atttypmod), b.typname, b.typcategory,
            a.attnotnull OR b.isnotnull, a.attgenerated, a.attidentity,
            coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false)
        FROM pg_catalog.pg_attribute a
        CROSS JOIN LATERAL (
            WITH RECURSIVE base AS (
                SELECT t.*, t.typnotnull AS isnotnull FROM pg_catalog.pg_type t WHERE t.oid = a.atttypid
                UNION ALL
                SELECT p.*, base.isnotnull OR p.typnotnull
                FROM base JOIN pg_catalog.pg_type p ON base.typtype = 'd' AND p.oid = base.typbasetype)
            SELECT * FROM base WHERE typtype <> 'd') b
        LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY a.attrelid, a.attnum
        """

    private static let indexesSQL = """
        SELECT i.indrelid, i.indisprimary, i.indimmediate,
            ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY k (attnum, number)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
                WHERE k.number <= i.indnkeyatts ORDER BY k.number)
        FROM pg_catalog.pg_index i
        WHERE i.indrelid = ANY ($1::oid[]) AND i.indisunique AND i.indisvalid AND i.indisready
        AND i.indpred IS NULL AND i.indexprs IS NULL
        ORDER BY i.indrelid, i.indexrelid
        """

    /// Those that PostgreSQL makes for the parts of a partitioned parent are left out.
    private static let foreignKeysSQL = """
        SELECT k.conrelid, p.relname,
            ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY n (attnum, number)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = n.attnum ORDER BY n.number),
            ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY n (attnum, number)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = n.attnum ORDER BY n.number)
        FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class p ON p.oid = k.confrelid
        WHERE k.contype = 'f' AND k.conrelid = ANY ($1::oid[]) AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_constraint o WHERE o.oid = k.conparentid AND o.conrelid = k.conrelid)
        ORDER BY k.conrelid, k.oid
        """
}
