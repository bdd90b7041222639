import PostgresClient

/// Columns, indexes and foreign keys of tables, by the tables' object ids.
extension Catalog {
    func columns(of tables: PostgresValue) throws -> [UInt32: [StoreColumn]] {
        let rows = try connection.execute(Self.columnsSQL, [tables])
        return try rows.reduce(into: [:]) { columns, row in
            let expression = row.string(6)
            columns[try id(row, 0), default: []].append(
                StoreColumn(
                    name: row.string(1) ?? "", number: try row.int(2) ?? 0, type: row.string(3) ?? "",
                    typeID: try id(row, 7), typeName: row.string(8) ?? "", category: row.string(9)?.first ?? "U",
                    isNotNull: try row.bool(4) ?? false, isComputed: row.string(5) == "s",
                    identity: StoreColumn.Identity(rawValue: row.string(10) ?? ""), expression: expression,
                    isSerial: expression?.hasPrefix("nextval(") ?? false, isHashable: try row.bool(11) ?? false,
                    isSortable: try row.bool(12) ?? false, collation: row.string(13),
                    isDeterministic: try row.bool(14) ?? true))
        }
    }

    /// Returns the unique indexes, in the order of their creation.
    func indexes(of tables: PostgresValue) throws -> [UInt32: [(index: StoreUniqueIndex, isImmediate: Bool)]] {
        let rows = try connection.execute(Self.indexesSQL, [tables])
        return try rows.reduce(into: [:]) { indexes, row in
            let names = try row.stringArray(4) ?? []
            let collations = try row.stringArray(5) ?? []
            let deterministic = try row.stringArray(6) ?? []
            let columns = names.indices.map {
                StoreUniqueIndex.Column(
                    name: names[$0] ?? "", collation: collations[$0], isDeterministic: deterministic[$0] != "false")
            }
            let index = StoreUniqueIndex(
                name: row.string(1) ?? "", isPrimary: try row.bool(2) ?? false, nullsAreEqual: try row.bool(7) ?? false,
                columns: columns)
            indexes[try id(row, 0), default: []].append((index, try row.bool(3) ?? false))
        }
    }

    func foreignKeys(of tables: PostgresValue) throws -> [UInt32: [StoreForeignKey]] {
        let rows = try connection.execute(
            Self.foreignKeysSQL("k.conrelid = ANY ($1::oid[])"), [tables])
        return try rows.reduce(into: [:]) { keys, row in
            let (child, key) = try foreignKey(row)
            keys[child, default: []].append(key)
        }
    }

    /// Returns every foreign key whose parent's changes reach its children, or are refused at once on their account.
    func actingForeignKeys() throws -> [(child: UInt32, key: StoreForeignKey)] {
        try connection.execute(Self.foreignKeysSQL("(k.confdeltype <> 'a' OR k.confupdtype <> 'a')")).map(foreignKey)
    }

    private func foreignKey(_ row: PostgresRow) throws -> (child: UInt32, key: StoreForeignKey) {
        let columns = try row.stringArray(2)?.compactMap(\.self) ?? []
        let set = try row.stringArray(8)?.compactMap(\.self) ?? []
        let key = StoreForeignKey(
            name: row.string(1) ?? "", columns: columns, parentID: try id(row, 3), parent: row.string(4) ?? "",
            targets: try row.stringArray(5)?.compactMap(\.self) ?? [],
            onDelete: StoreForeignKey.Action(rawValue: row.string(6) ?? "") ?? .noAction,
            onUpdate: StoreForeignKey.Action(rawValue: row.string(7) ?? "") ?? .noAction,
            columnsToSet: set.isEmpty ? columns : set, isDeferrable: try row.bool(9) ?? false,
            isValidated: try row.bool(10) ?? true, matchesFull: row.string(11) == "f")
        return (try id(row, 0), key)
    }

    /// A type is sortable or hashable by its own default operator class, by that of a type with the same bytes (varchar by
    /// text's), or because all of its kind are: enumerations, and arrays and ranges of such types.
    private static func hasDefaultClass(_ method: String) -> String {
        """
        CASE WHEN b.typtype = 'e' THEN true WHEN b.typtype IN ('r', 'm') THEN true WHEN b.typtype = 'c' THEN false
        ELSE EXISTS (
            SELECT FROM pg_catalog.pg_opclass o JOIN pg_catalog.pg_am m ON m.oid = o.opcmethod
            WHERE m.amname = '\(method)' AND o.opcdefault AND (
                o.opcintype = e.oid OR (e.typtype = 'e' AND o.opcintype = 'anyenum'::regtype) OR EXISTS (
                    SELECT FROM pg_catalog.pg_cast k WHERE k.castsource = e.oid AND k.casttarget = o.opcintype
                    AND k.castmethod = 'b' AND k.castcontext = 'i'))) END
        """
    }

    /// `b` is the type below all domains, `e` the type of an array's elements, or else the same.
    private static let columnsSQL = """
        SELECT a.attrelid, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod),
            a.attnotnull OR b.isnotnull, a.attgenerated, pg_get_expr(d.adbin, d.adrelid),
            b.oid, b.typname, CASE WHEN b.isarray AND e.typname = 'citext' THEN 'S' ELSE b.typcategory END,
            a.attidentity, \(hasDefaultClass("hash")), \(hasDefaultClass("btree")),
            quote_ident(ns.nspname) || '.' || quote_ident(co.collname), co.collisdeterministic
        FROM pg_catalog.pg_attribute a
        CROSS JOIN LATERAL (
            WITH RECURSIVE base AS (
                SELECT t.*, t.typnotnull AS isnotnull FROM pg_catalog.pg_type t WHERE t.oid = a.atttypid
                UNION ALL
                SELECT p.*, base.isnotnull OR p.typnotnull
                FROM base JOIN pg_catalog.pg_type p ON base.typtype = 'd' AND p.oid = base.typbasetype)
            SELECT base.*, base.typelem <> 0 AND base.typlen = -1 AND base.typcategory = 'A' AS isarray
            FROM base WHERE base.typtype <> 'd') b
        JOIN pg_catalog.pg_type e ON e.oid = CASE WHEN b.isarray THEN b.typelem ELSE b.oid END
        LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
        LEFT JOIN pg_catalog.pg_namespace ns ON ns.oid = co.collnamespace
        WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY a.attrelid, a.attnum
        """

    /// PostgreSQL 14 has no NULLS NOT DISTINCT, so its column is read by name.
    private static let indexesSQL = """
        SELECT i.indrelid, ic.relname, i.indisprimary, i.indimmediate,
            array_agg(a.attname::text ORDER BY k.number),
            array_agg(quote_ident(ns.nspname) || '.' || quote_ident(co.collname) ORDER BY k.number),
            array_agg(CASE WHEN co.collisdeterministic THEN 'true' WHEN co.oid IS NULL THEN 'true' ELSE 'false' END
                ORDER BY k.number),
            (to_jsonb(i) ->> 'indnullsnotdistinct')::boolean
        FROM pg_catalog.pg_index i
        JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid
        CROSS JOIN LATERAL unnest(i.indkey::int2[], i.indcollation::oid[]) WITH ORDINALITY k (attnum, collation, number)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
        LEFT JOIN pg_catalog.pg_collation co ON co.oid = k.collation
        LEFT JOIN pg_catalog.pg_namespace ns ON ns.oid = co.collnamespace
        WHERE i.indrelid = ANY ($1::oid[]) AND i.indisunique AND i.indisvalid AND i.indisready AND i.indpred IS NULL
        AND i.indexprs IS NULL AND k.number <= i.indnkeyatts
        GROUP BY i.indexrelid, i.indrelid, ic.relname, i.indisprimary, i.indimmediate, to_jsonb(i)
        ORDER BY i.indrelid, i.indexrelid
        """

    /// Those that PostgreSQL makes for the parts of a partitioned parent are left out. PostgreSQL 14 has no columns of
    /// SET NULL, so they are read by name.
    private static func foreignKeysSQL(_ condition: String) -> String {
        func names(_ table: String, _ numbers: String) -> String {
            """
            ARRAY(SELECT a.attname::text FROM \(numbers) WITH ORDINALITY n (attnum, number)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = \(table) AND a.attnum = n.attnum ORDER BY n.number)
            """
        }
        let set = "jsonb_array_elements_text(coalesce(nullif(to_jsonb(k) -> 'confdelsetcols', 'null'), '[]'))"
        return """
            SELECT k.conrelid, k.conname, \(names("k.conrelid", "unnest(k.conkey)")), k.confrelid, p.relname,
                \(names("k.confrelid", "unnest(k.confkey)")), k.confdeltype, k.confupdtype,
                ARRAY(SELECT a.attname::text FROM \(set) n (attnum)
                    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = n.attnum::int2),
                k.condeferrable, k.convalidated, k.confmatchtype
            FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class p ON p.oid = k.confrelid
            WHERE k.contype = 'f' AND \(condition) AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_constraint o WHERE o.oid = k.conparentid AND o.conrelid = k.conrelid)
            ORDER BY k.conrelid, k.oid
            """
    }
}
