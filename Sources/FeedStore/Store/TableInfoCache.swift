import GRDB
import Synchronization

/// What is known of the main store's tables, for as long as its schema stays as it is: reading it anew for each run would
/// take longer than many a run.
final class TableInfoCache: Sendable {
    private struct State {
        var version = -1
        var tables: [String: TableInfo] = [:]
        /// What has been found to suit this schema.
        var suitable: Set<Requirement> = []
    }

    /// What a mapping or a parser asks of the schema.
    enum Requirement: Hashable {
        case tables([TableDefinition])
        case references([ReferenceDefinition])
        case sql(String)
    }

    private let state = Mutex(State())

    /// What is known already, by the names that were asked for.
    var known: [String: TableInfo] { state.withLock { $0.tables } }

    /// Forgets what is known where the schema has changed, which another process may have done, and tells what is left.
    @discardableResult
    private func current(in db: Database) throws -> State {
        // What the file's header says (pragma.html, "schema_version").
        let version = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA main.schema_version")) ?? 0
        return state.withLock { state in
            if state.version != version { state = State(version: version) }
            return state
        }
    }

    /// Forgets what is known where the schema has changed. Each run that looks at tables begins with it.
    func renew(in db: Database) throws { try current(in: db) }

    /// Makes sure of something once, and again when the schema has been seen to have changed.
    ///
    /// - Parameter body: finds it so, or makes it so; it is then asked once more.
    func ensure(_ requirement: Requirement, in pool: DatabasePool, _ body: () throws -> Void) throws {
        if state.withLock({ $0.suitable.contains(requirement) }) { return }
        let before = try pool.unsafeRead { try current(in: $0).version }
        try body()
        let version = try pool.unsafeRead { try current(in: $0).version }
        guard version == before else { return }
        state.withLock { if $0.version == version { $0.suitable.insert(requirement) } }
    }

    /// - Returns: nil where there is no such table.
    func info(of table: String, in db: Database) throws -> TableInfo? {
        let current = try current(in: db)
        if let known = current.tables[table] { return known }
        let version = current.version
        let info = try TableInfo(db, table: table, schema: "main")
        state.withLock { if $0.version == version { $0.tables[table] = info } }
        return info
    }
}
