import FeedModel
import PostgresClient
@testable import FeedStore

/// The tables that a merge meets, and the foreign keys among all tables, as the server describes them within the merge's
/// transaction.
///
/// A class because the merge's steps share it; one merge uses it, on the thread of its connection.
final class StoreRelations {
    private let connection: PostgresConnection
    /// By the name as SQL has it, which a caller may have written in another way; nil where there is no such table.
    private var known: [String: StoreRelation?] = [:]
    private var references: [StoreReference]?

    init(_ connection: PostgresConnection) { self.connection = connection }

    // MARK: - Tables

    /// Reads several tables at once, by their names.
    func load(_ names: [String]) throws { try loadSQL(names.map(\.sqlIdentifier)) }

    func relation(_ name: String) throws -> StoreRelation? { try relation(sql: name.sqlIdentifier) }

    func relation(sql name: String) throws -> StoreRelation? {
        if let known = known[name] { return known }
        try loadSQL([name])
        return known[name] ?? nil
    }

    private func loadSQL(_ names: [String]) throws {
        let new = Set(names).filter { known[$0] == nil }
        guard !new.isEmpty else { return }
        let parameter = PostgresValue.textArray(try PostgresTextArray(new.sorted()))
        var relations: [String: StoreRelation] = [:]
        for row in try connection.execute(Self.columnsSQL, [parameter]) {
            guard let name = row.string(0) else { continue }
            let column = StoreColumn(
                name: row.string(3) ?? "", type: row.string(4) ?? "", typeName: row.string(5) ?? "",
                collation: row.string(6), isDeterministic: try row.bool(7) ?? true,
                isNotNull: try row.bool(8) ?? false, isComputed: row.string(9) != "",
                isAlwaysGenerated: row.string(10) == "a", comparesAsText: try row.bool(11) ?? true)
            relations[
                name,
                default: StoreRelation(
                    name: row.string(1) ?? "", sql: row.string(2) ?? "", columns: [], uniqueIndexes: [])
            ].columns.append(column)
        }
        for row in try connection.execute(Self.indexesSQL, [parameter]) {
            relations[row.string(0) ?? ""]?.uniqueIndexes.append(
                StoreRelation.Index(
                    columns: try row.stringArray(1)?.compactMap { $0 } ?? [],
                    mentioned: try row.stringArray(2)?.compactMap { $0 } ?? [],
                    isPrimary: try row.bool(3) ?? false, isPlain: try row.bool(4) ?? false))
        }
        for name in new { known[name] = .some(relations[name]) }
        for relation in relations.values { known[relation.sql] = relation }
    }

    /// A domain's values are those of the type below it. Types without a B-tree's order have no equality, or one that
    /// holds different values equal (geometric types); so has `citext`.
    private static let columnsSQL = """
        WITH RECURSIVE wanted AS (SELECT name, to_regclass(name) AS oid FROM unnest($1::text[]) name),
        base (relid, attnum, typid, typmod) AS (
            SELECT a.attrelid, a.attnum, a.atttypid, a.atttypmod FROM wanted w JOIN pg_attribute a ON a.attrelid = w.oid
            WHERE a.attnum > 0 AND NOT a.attisdropped
            UNION ALL
            SELECT b.relid, b.attnum, t.typbasetype, t.typtypmod FROM base b JOIN pg_type t ON t.oid = b.typid
            WHERE t.typtype = 'd')
        SELECT w.name, c.relname, c.oid::regclass::text, a.attname, format_type(b.typid, b.typmod), t.typname,
            quote_ident(n.nspname) || '.' || quote_ident(o.collname), coalesce(o.collisdeterministic, true),
            a.attnotnull, a.attgenerated, a.attidentity,
            NOT (e.typname <> 'citext' AND (e.typtype IN ('e', 'r', 'm') OR e.typcategory = 'S' OR EXISTS (
                SELECT 1 FROM pg_opclass p JOIN pg_am m ON m.oid = p.opcmethod
                WHERE m.amname = 'btree' AND p.opcdefault AND p.opcintype = e.oid)))
        FROM wanted w JOIN pg_class c ON c.oid = w.oid
        JOIN base b ON b.relid = c.oid JOIN pg_attribute a ON a.attrelid = b.relid AND a.attnum = b.attnum
        JOIN pg_type t ON t.oid = b.typid AND t.typtype <> 'd'
        JOIN pg_type e ON e.oid = CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN t.typelem ELSE t.oid END
        LEFT JOIN pg_collation o ON o.oid = a.attcollation LEFT JOIN pg_namespace n ON n.oid = o.collnamespace
        ORDER BY w.name, a.attnum
        """

    private static let indexesSQL = """
        SELECT w.name,
            ARRAY(SELECT a.attname::text FROM generate_series(0, i.indnkeyatts - 1) p
                JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[p] ORDER BY p),
            ARRAY(SELECT a.attname::text FROM pg_depend d
                JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
                    AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid AND d.refobjsubid > 0),
            i.indisprimary, i.indisunique AND i.indexprs IS NULL AND i.indpred IS NULL
        FROM unnest($1::text[]) w(name) JOIN pg_index i ON i.indrelid = to_regclass(w.name)
        WHERE (i.indisunique OR i.indisexclusion) AND i.indislive ORDER BY w.name, i.indexrelid
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

    /// Returns the foreign keys that refer to a table, as SQL names it.
    func references(to table: String) throws -> [StoreReference] {
        try loadReferences().filter { $0.parent == table }
    }

    /// Returns the tables to which a table's foreign keys refer.
    func parents(of table: String) throws -> [String] {
        try loadReferences().filter { $0.child == table && $0.parent != table }.map(\.parent)
    }

    /// Returns true if rows of a table refer to others of it, by a key that is checked with each statement.
    func refersToItself(_ table: String) throws -> Bool {
        try loadReferences().contains { $0.child == table && $0.parent == table && !$0.isDeferrable }
    }

    /// Returns the tables whose rows change along with those of the given tables, and with theirs.
    func children(of tables: Set<String>) throws -> Set<String> {
        var all: Set<String> = []
        var open = Array(tables)
        while let parent = open.popLast() {
            for reference in try references(to: parent)
            where reference.onDelete.changesChildren || reference.onUpdate.changesChildren {
                if !tables.contains(reference.child), all.insert(reference.child).inserted {
                    open.append(reference.child)
                }
            }
        }
        return all
    }
}
