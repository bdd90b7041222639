import CSQLite
import FeedModel
import FeedStaging
import GRDB

/// The properties of the main store's tables, kept while its schema is unchanged. Reading them for each run would
/// take longer than many runs.
final class TableInfoCache: Sendable {
    private struct State {
        var version = -1
        /// Read when the second table is asked for.
        var list: TableList?
        var tables: [String: StoredTable] = [:]
        /// The requirements that this schema has been found to meet.
        var suitable: Set<SchemaRequirement> = []
        /// Names for the columns of each table: the name at each position stands for all columns up to there.
        var columnMarks: [String: [String]] = [:]
    }

    private let state = Mutex(State())

    /// The cached tables, by the requested names.
    var known: [String: StoredTable] { state.withLock { $0.tables } }

    /// Forgets the cache if the schema has changed, perhaps by another process, and returns the schema's version.
    ///
    /// A schema that a transaction has changed is not cached: if the transaction is rolled back, another schema gets its
    /// version.
    @discardableResult
    private func version(in db: Database) throws -> Int {
        // The version in the file's header (pragma.html, "schema_version").
        let version = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA main.schema_version")) ?? 0
        let mayBeRolledBack = sqlite3_txn_state(db.sqliteConnection, "main") == SQLITE_TXN_WRITE
        state.withLock { if $0.version != version, !mayBeRolledBack { $0 = State(version: version) } }
        return version
    }

    /// Returns a cached value for one version of the schema; nil without one, or for another version.
    private func cached<Value>(_ version: Int, _ value: (State) -> Value?) -> Value? {
        state.withLock { $0.version == version ? value($0) : nil }
    }

    /// Caches values, unless the schema has changed since.
    private func keep(_ version: Int, _ body: (inout State) -> Void) {
        state.withLock { if $0.version == version { body(&$0) } }
    }

    /// Forgets the cache if the schema has changed. Each run that uses tables begins with it.
    func renew(in db: Database) throws { try version(in: db) }

    /// Ensures a requirement once, and again after the schema has changed.
    ///
    /// - Parameter body: checks or establishes the requirement. It is called again next time if the schema changed
    ///   meanwhile.
    func ensure(_ requirement: SchemaRequirement, in pool: DatabasePool, _ body: () throws -> Void) throws {
        if state.withLock({ $0.suitable.contains(requirement) }) { return }
        let before = try pool.unsafeRead(version)
        try body()
        guard try pool.unsafeRead(version) == before else { return }
        keep(before) { $0.suitable.insert(requirement) }
    }

    /// - Returns: nil if the table does not exist.
    func info(of table: String, in db: Database) throws -> StoredTable? {
        let version = try version(in: db)
        if let info = cached(version, { $0.tables[table] }) { return info }
        var list = cached(version) { $0.list }
        if list == nil, cached(version, { !$0.tables.isEmpty ? true : nil }) != nil {
            list = try TableList(db, schema: "main")
            keep(version) { $0.list = list }
        }
        let info = try StoredTable(db, table: table, schema: "main", in: list)
        keep(version) { $0.tables[table] = info }
        return info
    }

    /// Returns how a table compares the columns of scopes.
    ///
    /// - Parameter columns: the names in lower case.
    func comparison(of table: String, columns: Set<String>, in db: Database) throws -> TableComparison {
        guard !columns.isEmpty else { return TableComparison() }
        return try info(of: table, in: db)?.comparison(of: columns) ?? TableComparison()
    }

    // MARK: - What rows stand in

    /// Returns a mark of the tables of a request's rows: the present columns of each, and whether it has any row.
    func mark(of tables: Set<String>, in db: Database) throws -> String {
        let version = try version(in: db)
        return try TableFingerprint.text(
            of: tables, columns: { try columnMarks(of: $0, version, db) }, hasRows: db.hasRows)
    }

    /// Returns true if the rows that were there when the mark was made can still be there. Every table must have the
    /// columns that it had, perhaps followed by others, and a row if it had any.
    ///
    /// - Parameter mark: nil if none was made; then the tables must exist.
    func stands(_ mark: String?, of tables: Set<String>, in db: Database) throws -> Bool {
        let version = try version(in: db)
        let needed = try TableFingerprint.tablesWithRows(mark, of: tables) { try columnMarks(of: $0, version, db) }
        return try needed?.allSatisfy(db.hasRows) ?? false
    }

    /// Returns the marks of a table's columns; empty if the table does not exist.
    private func columnMarks(of table: String, _ version: Int, _ db: Database) throws -> [String] {
        if let marks = cached(version, { $0.columnMarks[table] }) { return marks }
        let marks = try info(of: table, in: db).map(TableFingerprint.columns) ?? []
        keep(version) { $0.columnMarks[table] = marks }
        return marks
    }
}

extension Database {
    func hasRows(_ table: String) throws -> Bool {
        try Bool.fetchOne(cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM main.\(table.sqlIdentifier))")) == true
    }
}
