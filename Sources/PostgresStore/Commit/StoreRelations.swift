import FeedModel
import PostgresClient
@testable import FeedStore

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
        try keep(Array(found.values))
    }

    /// Returns nil where there is no such table.
    func relation(_ name: String) throws -> StoreRelation? {
        try load([name])
        return names[name].flatMap { known[$0] }
    }

    func relation(id: UInt32) throws -> StoreRelation? {
        if let known = known[id] { return known }
        try keep(Array(cache.details(ids: [id], in: connection).values))
        return known[id]
    }

    private func keep(_ tables: [StoreTableDetails]) throws {
        let new = tables.filter { known[$0.oid] == nil }
        guard !new.isEmpty else { return }
        for table in new { known[table.oid] = StoreRelation(details: table, uniquenesses: []) }
        let ids = "{\(new.map { String($0.oid) }.joined(separator: ","))}"
        for row in try connection.execute(Self.uniquenessSQL, [.text(ids)]) {
            known[UInt32(try row.int64(0) ?? 0)]?.uniquenesses.append(
                StoreRelation.Uniqueness(
                    columns: try row.stringArray(1)?.compactMap(\.self) ?? [], isPlain: try row.bool(2) ?? false))
        }
    }

    private static let uniquenessSQL = """
        SELECT i.indrelid,
            ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum > 0
                AND (a.attnum = ANY (i.indkey) OR EXISTS (
                    SELECT FROM pg_catalog.pg_depend d
                    WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = i.indexrelid
                        AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = i.indrelid
                        AND d.refobjsubid = a.attnum))),
            i.indisunique AND i.indexprs IS NULL AND i.indpred IS NULL
        FROM pg_catalog.pg_index i
        WHERE i.indrelid = ANY ($1::oid[]) AND (i.indisunique OR i.indisexclusion) AND i.indislive
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
        try loadReferences().filter { $0.parent == table.details.oid }
    }

    /// Returns the other tables to which a table's foreign keys refer.
    func parents(of table: StoreRelation) throws -> Set<UInt32> {
        let id = table.details.oid
        return Set(try loadReferences().filter { $0.child == id && $0.parent != id }.map(\.parent))
    }

    /// Returns true if rows of a table refer to others of it, by a key that is checked with each statement.
    func refersToItself(_ table: StoreRelation) throws -> Bool {
        let id = table.details.oid
        return try loadReferences().contains { $0.child == id && $0.parent == id && !$0.isDeferrable }
    }

    /// Returns true if a table refers to itself, directly or by others, by keys that are checked with each statement.
    /// Asks nothing of the server, whose transaction has failed.
    func isInCircle(_ schema: String?, _ table: String?) -> Bool {
        guard let own = known.values.first(where: { $0.details.schema == schema && $0.name == table })?.details.oid
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
        var open = tables.map(\.details.oid)
        while let parent = open.popLast() {
            guard all.insert(parent).inserted else { continue }
            open += try loadReferences().filter {
                $0.parent == parent && ($0.onDelete.changesChildren || $0.onUpdate.changesChildren)
            }.map(\.child)
        }
        return try all.sorted().compactMap(relation(id:))
    }
}
