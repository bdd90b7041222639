import FeedModel
import PostgresClient
import FeedStaging
import FeedStores

/// The tables that a merge meets, and the foreign keys among all tables, within the merge's transaction.
///
/// A class because the merge's steps share it; one merge uses it, on the thread of its connection.
final class StoreRelations {
    private let connection: PostgresConnection
    private let cache: TableDetailsCache
    /// By object id.
    private var known: [UInt32: StoreRelation] = [:]
    /// By the names that were asked for; zero where there is no such table.
    private var names: [String: UInt32] = [:]
    private var references: [StoreReference]?

    init(_ connection: PostgresConnection, _ cache: TableDetailsCache) {
        self.connection = connection
        self.cache = cache
    }

    // MARK: - Tables

    /// Reads several tables at once, by their names.
    func load(_ wanted: [String]) throws {
        let new = Set(wanted).filter { names[$0] == nil }
        guard !new.isEmpty else { return }
        let found = try cache.details(of: new, in: connection)
        for name in new { names[name] = found[name]?.oid ?? 0 }
        try load(ids: found.values.map(\.oid))
    }

    /// Returns nil where there is no such table.
    func relation(_ name: String) throws -> StoreRelation? {
        try load([name])
        return names[name].flatMap { known[$0] }
    }

    func relation(id: UInt32) throws -> StoreRelation? {
        try load(ids: [id])
        return known[id]
    }

    private func load(ids: [UInt32]) throws {
        let new = ids.filter { known[$0] == nil }
        guard !new.isEmpty else { return }
        let parameter = PostgresValue.text("{\(new.map(String.init).joined(separator: ","))}")
        for row in try connection.execute(Self.columnsSQL, [parameter]) {
            let id = UInt32(try row.int64(0) ?? 0)
            let relation = StoreRelation(oid: id, schema: row.string(1) ?? "", name: row.string(2) ?? "")
            known[id, default: relation].columns.append(
                StoreColumn(
                    name: row.string(3) ?? "", declaredType: row.string(12) ?? "", type: row.string(4) ?? "",
                    typeName: row.string(5) ?? "",
                    collation: row.string(6), isDeterministic: try row.bool(7) ?? true,
                    isNotNull: try row.bool(8) ?? false, isComputed: row.string(9) != "",
                    isAlwaysGenerated: row.string(10) == "a", comparesAsText: try row.bool(11) ?? true))
        }
        for row in try connection.execute(Self.uniquenessSQL, [parameter]) {
            known[UInt32(try row.int64(0) ?? 0)]?.uniquenesses.append(
                StoreRelation.Uniqueness(
                    columns: try row.stringArray(1)?.compactMap(\.self) ?? [],
                    mentioned: try row.stringArray(2)?.compactMap(\.self) ?? [],
                    isPrimary: try row.bool(3) ?? false, isPlain: try row.bool(4) ?? false))
        }
    }

    /// A domain's values are those of the type below it. Types without a B-tree's order have no equality, or one that
    /// holds different values equal (geometric types); so has `citext`.
    private static let columnsSQL = """
        WITH RECURSIVE base (relid, attnum, typid, typmod) AS (
            SELECT a.attrelid, a.attnum, a.atttypid, a.atttypmod FROM pg_catalog.pg_attribute a
            WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
            UNION ALL
            SELECT b.relid, b.attnum, t.typbasetype, t.typtypmod
            FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.typid WHERE t.typtype = 'd')
        SELECT c.oid, s.nspname, c.relname, a.attname, format_type(b.typid, b.typmod), t.typname,
            quote_ident(n.nspname) || '.' || quote_ident(o.collname), coalesce(o.collisdeterministic, true),
            a.attnotnull, a.attgenerated, a.attidentity,
            NOT (e.typname <> 'citext' AND (e.typtype IN ('e', 'r', 'm') OR e.typcategory = 'S' OR EXISTS (
                SELECT FROM pg_catalog.pg_opclass p JOIN pg_catalog.pg_am m ON m.oid = p.opcmethod
                WHERE m.amname = 'btree' AND p.opcdefault AND p.opcintype = e.oid))),
            format_type(a.atttypid, a.atttypmod)
        FROM base b JOIN pg_catalog.pg_class c ON c.oid = b.relid
        JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace
        JOIN pg_catalog.pg_attribute a ON a.attrelid = b.relid AND a.attnum = b.attnum
        JOIN pg_catalog.pg_type t ON t.oid = b.typid AND t.typtype <> 'd'
        JOIN pg_catalog.pg_type e
            ON e.oid = CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN t.typelem ELSE t.oid END
        LEFT JOIN pg_catalog.pg_collation o ON o.oid = a.attcollation
        LEFT JOIN pg_catalog.pg_namespace n ON n.oid = o.collnamespace
        ORDER BY c.oid, a.attnum
        """

    private static let uniquenessSQL = """
        SELECT i.indrelid,
            ARRAY(SELECT a.attname::text FROM generate_series(0, i.indnkeyatts - 1) p
                JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[p] ORDER BY p),
            ARRAY(SELECT a.attname::text FROM pg_catalog.pg_depend d
                JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = i.indexrelid
                    AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = i.indrelid
                    AND d.refobjsubid > 0),
            i.indisprimary,
            i.indisunique AND i.indimmediate AND i.indisvalid AND i.indexprs IS NULL AND i.indpred IS NULL
        FROM pg_catalog.pg_index i
        WHERE i.indrelid = ANY ($1::oid[]) AND (i.indisunique OR i.indisexclusion) AND i.indislive
        ORDER BY i.indrelid, i.indexrelid
        """

    // MARK: - Foreign keys

    /// Reads the foreign keys of all tables.
    @discardableResult
    func loadReferences() throws -> [StoreReference] {
        if let references { return references }
        let found = try connection.execute(StoreReference.sql).map { try StoreReference($0) }
        references = found
        return found
    }

    /// Returns the foreign keys that refer to a table.
    func references(to table: StoreRelation) throws -> [StoreReference] {
        try loadReferences().filter { $0.parent == table.oid }
    }

    /// Returns the other tables to which a table's foreign keys refer.
    func parents(of table: StoreRelation) throws -> Set<UInt32> {
        let id = table.oid
        return Set(try loadReferences().filter { $0.child == id && $0.parent != id }.map(\.parent))
    }

    /// Returns true if rows of a table refer to others of it, by a key that is checked with each statement.
    func refersToItself(_ table: StoreRelation) throws -> Bool {
        let id = table.oid
        return try loadReferences().contains { $0.child == id && $0.parent == id && !$0.isDeferrable }
    }

    /// Returns true if a table refers to itself, directly or by others, by keys that are checked with each statement.
    /// Asks nothing of the server, whose transaction has failed.
    func isInCircle(_ schema: String?, _ table: String?) -> Bool {
        guard let own = known.values.first(where: { $0.schema == schema && $0.name == table })?.oid
        else { return false }
        var visited: Set<UInt32> = []
        var open = [own]
        while let child = open.popLast() {
            for parent in (references ?? []).filter({ $0.child == child && !$0.isDeferrable }).map(\.parent) {
                if parent == own { return true }
                if visited.insert(parent).inserted { open.append(parent) }
            }
        }
        return false
    }

    /// Returns the given tables, and those whose rows change along with theirs.
    func withChildren(_ tables: [StoreRelation]) throws -> [StoreRelation] {
        var all: Set<UInt32> = []
        var open = tables.map(\.oid)
        while let parent = open.popLast() {
            guard all.insert(parent).inserted else { continue }
            open += try loadReferences().filter {
                $0.parent == parent && ($0.onDelete.changesChildren || $0.onUpdate.changesChildren)
            }.map(\.child)
        }
        return try all.sorted().compactMap(relation(id:))
    }
}
