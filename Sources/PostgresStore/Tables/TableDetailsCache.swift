import Dispatch
import FeedModel
import FeedStaging
import FeedStores

/// The definitions of the store's tables, kept while they are unchanged. Reading them for each run would take longer
/// than many runs.
///
/// PostgreSQL has no version of its schema. Each table has a mark instead (``Catalog``), and one query compares the
/// marks of all known tables.
final class TableDetailsCache: Sendable {
    fileprivate struct State {
        /// Grows with each change that has been noticed.
        var version = 0
        var tables: [TableID: StoredTable] = [:]
        /// The tables by the requested names.
        var names: [String: TableID] = [:]
        /// The requirements that the known tables have been found to meet.
        var suitable: Set<SchemaRequirement> = []
        /// Where a row of each table was seen last. It is looked for there first, as a table whose first rows were deleted
        /// takes long to search.
        var rows: [TableID: String] = [:]
        /// When each table was last found to be as it is here.
        var looks: [TableID: ContinuousClock.Instant] = [:]
        /// The names that a thread looks up in the catalog.
        var lookups: [String: DispatchGroup] = [:]
    }

    private let state = Mutex(State())
    let spellings = SpellingsCache()

    /// Returns the table as it was when it was last looked at.
    func known(_ name: String) -> StoredTable? {
        state.withLock { state in state.names[name].flatMap { state.tables[$0] } }
    }

    func known(where isWanted: (StoredTable) -> Bool) -> [StoredTable] {
        state.withLock { $0.tables.values.filter(isWanted) }
    }

    /// Returns those of the tables that are known here, with those whose rows change along with theirs.
    func knownWithChildren(_ names: some Sequence<String>) -> [StoredTable] {
        state.withLock { state in
            var open = names.compactMap { state.names[$0] }
            var found: [TableID: StoredTable] = [:]
            while let id = open.popLast() {
                guard found[id] == nil, let table = state.tables[id] else { continue }
                found[id] = table
                open += table.childrenThatChange
            }
            return Array(found.values)
        }
    }

    /// Returns those of the tables that are known here, with those to which they refer and that refer to them.
    func knownWithRelatives(_ names: Set<String>) -> [TableID] {
        state.withLock { state in
            let own = names.compactMap { state.names[$0] }
            let relatives = own.compactMap { state.tables[$0] }.flatMap { table in
                table.foreignKeys.map(\.parent) + table.children.map(\.child)
            }
            return Array(Set(own + relatives)).filter { state.tables[$0] != nil }
        }
    }

    /// Returns those of some tables, of all for nil, that have not been looked at since a time.
    func unseen(_ ids: [TableID]?, since start: ContinuousClock.Instant) -> [TableID] {
        state.withLock { state in
            (ids ?? Array(state.tables.keys)).filter { id in state.looks[id].map { $0 < start } ?? true }
        }
    }

    /// Forgets those of some tables that have changed, perhaps by another process; of all for nil.
    func renew(_ ids: [TableID]?, _ connection: PostgresConnection) throws {
        let ids = ids ?? Array(state.withLock(\.tables.keys))
        guard !ids.isEmpty else { return }
        let asked = ContinuousClock.now
        let marks = try Catalog(connection).marks(of: ids)
        state.withLock { state in
            for id in ids where state.tables[id] != nil { state.looks[id] = asked }
            let changed = ids.filter { state.tables[$0].map { $0.mark != marks[$0.id]?.mark } ?? false }
            // Another schema's table may have taken the name, or given it back.
            let renamed = ids.filter { id in
                guard let known = state.tables[id], let mark = marks[id] else { return false }
                return known.isVisible != mark.isVisible
            }
            guard !changed.isEmpty || !renamed.isEmpty else { return }
            for id in changed + renamed { state.forget(id) }
            state.didChange()
        }
    }

    /// Ensures a requirement once, and again after one of the known tables has changed.
    ///
    /// - Parameter body: checks or establishes the requirement. It is called again next time if a table changed meanwhile.
    func ensure(_ requirement: SchemaRequirement, _ body: () throws -> Void) throws {
        if state.withLock({ $0.suitable.contains(requirement) }) { return }
        let before = state.withLock(\.version)
        try body()
        state.withLock { if $0.version == before { $0.suitable.insert(requirement) } }
    }

    /// - Returns: nil if the table does not exist.
    func details(of name: String, in connection: PostgresConnection) throws -> StoredTable? {
        try details(of: [name], in: connection)[name]
    }

    /// Returns the existing tables among these names, by the requested name.
    func details(of names: Set<String>, in connection: PostgresConnection) throws -> [String: StoredTable] {
        let lookup = connection.transactionStatus == .idle ? beginLookup(of: names) : nil
        defer { if let lookup { end(lookup) } }
        var found = names.reduce(into: [String: StoredTable]()) { $0[$1] = known($1) }
        let missing = names.filter { found[$0] == nil }
        guard !missing.isEmpty else { return found }
        let version = state.withLock(\.version)
        let asked = ContinuousClock.now
        let read = try Catalog(connection).tables(named: missing.sorted())
        state.withLock { state in
            guard state.version == version else { return }
            for (name, table) in read {
                state.keep(table, asked)
                state.names[name] = table.id
            }
        }
        found.merge(read) { $1 }
        return found
    }

    private typealias Lookup = (names: Set<String>, group: DispatchGroup)

    /// Waits while another thread looks up one of the names, a second at the most: runs that begin together want to know
    /// the same tables, whose descriptions cost the server more than a run.
    ///
    /// - Returns: the lookup of the unknown names; nil if there are none, or after a wait.
    private func beginLookup(of names: Set<String>) -> Lookup? {
        let (own, others): (Lookup?, DispatchGroup?) = state.withLock { state in
            let missing = names.filter { state.names[$0].flatMap { state.tables[$0] } == nil }
            if let others = missing.compactMap({ state.lookups[$0] }).first { return (nil, others) }
            guard !missing.isEmpty else { return (nil, nil) }
            let group = DispatchGroup()
            group.enter()
            for name in missing { state.lookups[name] = group }
            return ((missing, group), nil)
        }
        if let others { _ = others.wait(timeout: .now() + 1) }
        return own
    }

    private func end(_ lookup: Lookup) {
        state.withLock { state in
            for name in lookup.names where state.lookups[name] === lookup.group { state.lookups[name] = nil }
        }
        lookup.group.leave()
    }

    /// Returns the existing tables, in any schema.
    func details(of ids: [TableID], in connection: PostgresConnection) throws -> [StoredTable] {
        let (found, version) = state.withLock { state in (ids.compactMap { state.tables[$0] }, state.version) }
        let missing = Set(ids).subtracting(found.map(\.id))
        guard !missing.isEmpty else { return found }
        let asked = ContinuousClock.now
        let read = try Catalog(connection).tables(missing.sorted())
        state.withLock { state in
            guard state.version == version else { return }
            for table in read { state.keep(table, asked) }
        }
        return found + read
    }

    /// Returns the existing tables with their present definitions. Those of their relatives are looked at as well.
    ///
    /// - Parameter start: tables that have been looked at since then are not looked at again.
    func reread(
        _ names: Set<String>, since start: ContinuousClock.Instant = .now, in connection: PostgresConnection
    ) throws -> [String: StoredTable] {
        try renew(unseen(knownWithRelatives(names), since: start), connection)
        return try details(of: names, in: connection)
    }

    /// Forgets everything, as after a transaction that is rolled back.
    func forgetAll() {
        state.withLock { state in
            let (version, lookups) = (state.version + 1, state.lookups)
            state = State()
            (state.version, state.lookups) = (version, lookups)
        }
    }

    // MARK: - What rows stand in

    /// Returns a mark of the tables of each request's rows: the present columns of each table, and whether it has any
    /// row.
    ///
    /// - Parameter details: the present tables, by the names in the requests.
    func marks(
        of requests: [Set<String>], _ details: [String: StoredTable], in connection: PostgresConnection
    ) throws -> [String] {
        Self.marks(of: requests, details, filled: try filled(Array(details.values), in: connection))
    }

    /// Returns the marks, where the tables with rows are known.
    ///
    /// - Parameter filled: the object ids of the tables with rows.
    static func marks(
        of requests: [Set<String>], _ details: [String: StoredTable], filled: Set<TableID>
    ) -> [String] {
        let columns = details.mapValues { TableFingerprint.columns(of: $0) }
        return requests.map { tables in
            TableFingerprint.text(of: tables, columns: { columns[$0] ?? [] }) { table in
                details[table].map { filled.contains($0.id) } ?? false
            }
        }
    }

    /// Returns true if the rows that were there when the mark was made can still be there. Every table must have the
    /// columns that it had, perhaps followed by others, and a row if it had any.
    ///
    /// - Parameters:
    ///   - mark: nil if none was made; then the tables must exist.
    ///   - start: tables that have been looked at since then are not looked at again.
    func stands(
        _ mark: String?, of tables: Set<String>, since start: ContinuousClock.Instant = .now,
        in connection: PostgresConnection
    ) throws -> Bool {
        let details = try reread(tables, since: start, in: connection)
        let needed = TableFingerprint.tablesWithRows(mark, of: tables) { name in
            details[name].map { TableFingerprint.columns(of: $0) } ?? []
        }
        guard let needed else { return false }
        let mustHaveRows = needed.compactMap { details[$0] }
        let filled = try filled(mustHaveRows, in: connection)
        return mustHaveRows.allSatisfy { filled.contains($0.id) }
    }

    /// Returns which tables have rows. Outside of a commit, a table that another session keeps locked counts as having
    /// some: no run waits for the lock before it has rows to write.
    private func filled(_ tables: [StoredTable], in connection: PostgresConnection) throws -> Set<TableID> {
        guard !tables.isEmpty else { return [] }
        let rows = state.withLock(\.rows)
        let questions = tables.map { table in
            // Where a row is, is known of tables alone (Documentation/ddl-system-columns.html).
            guard table.kind.isTable else { return "(SELECT '' FROM \(table.sql) LIMIT 1)" }
            let any = "(SELECT ctid::text FROM \(table.sql) LIMIT 1)"
            guard let last = rows[table.id] else { return any }
            let known = "(SELECT ctid::text FROM \(table.sql) WHERE ctid = \(last.postgresLiteral) LIMIT 1)"
            return "coalesce(\(known), \(any))"
        }
        // An array, as a row has 1,664 columns at most.
        let answers: [String?]
        do {
            answers =
                try connection.executeBriefly("SELECT ARRAY[\(questions.joined(separator: ", "))]::text[]")[0]
                .stringArray(0) ?? []
        } catch let error as PostgresError
            where error.state == .lockNotAvailable && connection.transactionStatus == .idle
        {
            return Set(tables.map(\.id))
        }
        let found = zip(tables, answers).filter { $1 != nil }
        state.withLock { state in
            for (table, place) in found where state.tables[table.id] != nil { state.rows[table.id] = place }
        }
        return Set(found.map(\.0.id))
    }
}

extension TableDetailsCache.State {
    fileprivate mutating func keep(_ table: StoredTable, _ asked: ContinuousClock.Instant) {
        if let old = tables[table.id], old.mark != table.mark {
            forget(table.id)
            didChange()
        }
        tables[table.id] = table
        looks[table.id] = asked
    }

    fileprivate mutating func forget(_ id: TableID) {
        tables[id] = nil
        rows[id] = nil
        looks[id] = nil
        names = names.filter { $0.value != id }
    }

    fileprivate mutating func didChange() {
        version += 1
        suitable = []
    }
}
