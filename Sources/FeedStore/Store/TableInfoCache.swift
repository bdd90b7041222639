import GRDB
import Synchronization

/// What is known of the main store's tables, for as long as its schema stays as it is: reading it anew for each run would
/// take longer than many a run.
final class TableInfoCache: Sendable {
    private struct State {
        var version = -1
        var tables: [String: TableInfo] = [:]
    }

    private let state = Mutex(State())

    /// - Returns: nil where there is no such table.
    func info(of table: String, in db: Database) throws -> TableInfo? {
        // Another process may have changed the schema; the file's header tells (pragma.html, "schema_version").
        let version = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA main.schema_version")) ?? 0
        let known: TableInfo? = state.withLock { state in
            if state.version != version { state = State(version: version) }
            return state.tables[table]
        }
        if let known { return known }
        let info = try TableInfo(db, table: table, schema: "main")
        state.withLock { if $0.version == version { $0.tables[table] = info } }
        return info
    }
}
