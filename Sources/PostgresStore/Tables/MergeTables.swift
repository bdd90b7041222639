import FeedModel
import FeedStaging
import FeedStores

/// The tables of a merge, as defined within its transaction.
///
/// A class because the merge's steps share it; one merge uses it, on the thread of its connection.
final class MergeTables {
    private let connection: PostgresConnection
    private let cache: TableDetailsCache
    /// By object id.
    private var known: [TableID: StoredTable] = [:]
    /// By the requested names; nil if the table does not exist.
    private var names: [String: TableID?] = [:]

    /// True if each table is compared with the catalog when it is first asked for.
    private let rereads: Bool

    init(_ connection: PostgresConnection, _ cache: TableDetailsCache, rereads: Bool = false) {
        self.connection = connection
        self.cache = cache
        self.rereads = rereads
    }

    /// Reads several tables at once, by their names.
    func load(_ wanted: some Sequence<String>) throws {
        let new = Set(wanted).filter { names[$0] == nil }
        guard !new.isEmpty else { return }
        let found = try rereads ? cache.reread(new, in: connection) : cache.details(of: new, in: connection)
        for name in new { names[name] = .some(found[name]?.id) }
        for table in found.values { known[table.id] = table }
    }

    /// Returns the existing tables among these names, by the requested name.
    func tables(named wanted: Set<String>) throws -> [String: StoredTable] {
        try load(wanted)
        return wanted.reduce(into: [:]) { tables, name in tables[name] = (names[name] ?? nil).flatMap { known[$0] } }
    }

    /// Returns nil if the table does not exist.
    func table(_ name: String) throws -> StoredTable? {
        try load([name])
        return (names[name] ?? nil).flatMap { known[$0] }
    }

    func table(id: TableID) throws -> StoredTable? {
        try load(ids: [id])
        return known[id]
    }

    private func load(ids: some Sequence<TableID>) throws {
        let new = Set(ids).filter { known[$0] == nil }
        guard !new.isEmpty else { return }
        if rereads { try cache.renew(new.sorted(), connection) }
        for table in try cache.details(of: new.sorted(), in: connection) { known[table.id] = table }
    }

    /// Reads changed tables again, with a single query if none has changed.
    func renew() throws {
        let wanted = Array(names.keys)
        try cache.renew(known.keys.sorted(), connection)
        known = [:]
        names = [:]
        try load(wanted)
    }

    /// - Parameter tables: the tables as they were when rows were staged for them.
    /// - Throws: ``StoreError`` naming the tables that have changed.
    func check(_ tables: [StoredTable]) throws {
        let changed = Set(
            try tables.filter { staged in try table(staged.name).map { !$0.serves(staged) } ?? true }.map(\.name))
        guard changed.isEmpty else {
            let names = changed.sorted().map { "'\($0)'" }.joined(separator: ", ")
            throw StoreError(
                .schema,
                "table \(names) was changed while rows for it were read; the next run uses its new form")
        }
    }

    /// Returns the given tables, and those whose rows change along with theirs.
    func withChildren(_ tables: [StoredTable]) throws -> [StoredTable] {
        var all: [TableID: StoredTable] = [:]
        var open = tables
        while !open.isEmpty {
            let new = open.filter { all.updateValue($0, forKey: $0.id) == nil }
            let children = Set(new.flatMap(\.childrenThatChange)).filter { all[$0] == nil }
            // A whole generation at once.
            try load(ids: children)
            open = children.compactMap { known[$0] }
        }
        return all.values.sorted { $0.id < $1.id }
    }

    /// Returns true if a table refers to itself, directly or by other tables of the merge, by keys that are checked with
    /// each statement. Asks nothing of the server, whose transaction has failed.
    func isInCircle(_ schema: String?, _ table: String?) -> Bool {
        guard let own = known.values.first(where: { $0.schema == schema && $0.relation == table })?.id
        else { return false }
        var visited: Set<TableID> = []
        var open = [own]
        while let child = open.popLast() {
            for parent in (known[child]?.foreignKeys ?? []).filter({ !$0.isDeferrable }).map(\.parent) {
                if parent == own { return true }
                if visited.insert(parent).inserted { open.append(parent) }
            }
        }
        return false
    }
}

extension StoredTable {
    /// The tables whose rows change along with rows of this one.
    var childrenThatChange: [TableID] {
        children.filter { $0.onDelete.changesChildren || $0.onUpdate.changesChildren }.map(\.child)
    }
}

extension StoredTable {
    /// Returns true if rows can be merged into this table that were staged for the other: its columns and keys are here.
    fileprivate func serves(_ staged: StoredTable) -> Bool {
        let keys = Set(uniqueIndexes)
        return primaryKey == staged.primaryKey && generatedKey == staged.generatedKey
            && keys.isSuperset(of: staged.uniqueIndexes)
            && staged.columns.allSatisfy { column in
                columns.contains {
                    $0.name == column.name && $0.type == column.type
                        && $0.isGenerated == column.isGenerated
                }
            }
    }
}
