import CSQLite
import FeedModel
package import FeedStaging
package import FeedStores
import Foundation
package import GRDB

/// The database that all other programs read, and the only way to write to it: whole stacks, in one transaction each.
///
/// SQLite in WAL mode. One writer at a time commits, in this process and in others on the same file. Readers never
/// wait. Its methods block their thread: none is called from the cooperative pool.
package final class SQLiteStore: MainStore {
    /// The file's path, made absolute.
    package let path: String
    package var name: String { path }
    let pool: DatabasePool
    /// The connection that reads a source's state at the start of each run.
    let states: DatabaseQueue
    let memory = StagingMemory()
    let tableInfos = TableInfoCache()
    let laterChanges = LaterChanges()
    private let files: StoreFiles
    let lockWait: LockWait
    let writer: SQLiteWriter
    /// This process's rights to deliver events, by the hooks' names.
    let hookLocks = Mutex<[String: RunLock]>([:])

    let probing: StoreProbe
    /// The leases that each write checks; nil where the right to run a source is a lock on a file.
    private let leases: Leases?

    /// A reader for queries and for GRDB observations, which fire at every commit that changes the observed rows.
    package var reader: any DatabaseReader { pool }

    /// Opens the store, creating it where it does not exist, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - schema: idempotent SQL, run each time the store is opened.
    ///   - workFolder: the folder of scratch files; nil for that beside the store.
    ///   - work: does writes elsewhere than on the writing connection's own queue.
    ///   - leases: those of a simulated server's store, whose migrations add their columns.
    ///   - registerMigrations: adds the program's own migrations after Tributary's.
    /// - Throws: ``StoreError``.
    package init(
        path: String, schema: String? = nil, workFolder: String? = nil, work: SQLiteWork? = nil,
        leases: Leases? = nil, registerMigrations: (inout DatabaseMigrator) -> Void = { _ in }
    ) throws {
        let lockWait = LockWait(work)
        self.lockWait = lockWait
        self.leases = leases
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
        self.workFolder = workFolder ?? self.path + "-work"
        probing = StoreProbe(self.path)
        var configuration = Configuration()
        configuration.label = "store"
        configuration.maximumReaderCount = 4
        configuration.busyMode = .callback { lockWait.pause(tries: $0) }
        configuration.prepareDatabase { [log = self.path + "-wal"] db in
            try db.execute(
                sql: """
                    PRAGMA page_size = 8192; PRAGMA cache_size = -4096; PRAGMA journal_size_limit = 67108864;
                    PRAGMA wal_autocheckpoint = 4000
                    """)
            try db.addRowDigest()
            guard !db.configuration.readonly else { return }
            try db.beginLog(at: log)
            try StagingMemory.attach(to: db)
        }
        let isThere = FileManager.default.fileExists(atPath: self.path)
        let found = StoreFiles(path: self.path, resolved: self.path)
        do {
            try OwnMigrations.checkAge(ofStore: self.path, lockWait)
            pool = try DatabasePool(path: self.path, configuration: configuration)
            // GRDB's own setting leaves a commit unsynced until the next checkpoint. A power failure would then take back runs
            // of which a hook has heard.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA main.synchronous = FULL") }
            writer = SQLiteWriter(pool, work)
            states = try Self.openStates(self.path, lockWait)
            files = StoreFiles(path: self.path, resolved: states.resolvedPath)
            StoreMode(ofStore: self.path)?.narrow(self.path + "-lock")
            var migrator = DatabaseMigrator()
            OwnMigrations.register(in: &migrator)
            registerMigrations(&migrator)
            if try schema != nil || !pool.read(migrator.hasCompletedMigrations) {
                // Two processes may open a new store at once.
                let lock = try RunLock(schemaOf: self.path)
                defer { lock?.unlock() }
                try migrator.migrate(pool)
                if let schema { try Self.run(schema: schema, in: pool, self.path) }
            }
        } catch let error as DatabaseError {
            // The log or its index is gone once it has been opened.
            if isThere, error.resultCode == .SQLITE_IOERR, (try? found.check()) == nil {
                throw Self.isBeingReplaced(self.path)
            }
            throw StoreError(opening: self.path, error)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            // GRDB looks for the log, and then at its size.
            throw Self.isBeingReplaced(self.path)
        }
    }

    private static func isBeingReplaced(_ path: String) -> StoreError {
        StoreError(
            .unavailable,
            "the store \(path) cannot be opened: its files are being replaced by another process, as `restore` does; try again"
        )
    }

    /// What the error of a schema begins with.
    package static func schemaError(_ path: String) -> String { "the schema of the store \(path) cannot be run: " }

    /// - Throws: ``StoreError`` with SQLite's message and the statement.
    private static func run(schema: String, in pool: DatabasePool, _ path: String) throws {
        do {
            try pool.writeWithoutTransaction { try $0.run(schema: schema) }
        } catch let error as DatabaseError {
            let statement = error.sql.map { ", in \"\($0.prefix(200))\"" } ?? ""
            throw StoreError(.unavailable, schemaError(path) + (error.message ?? error.description) + statement)
        }
    }

    /// Runs idempotent SQL, all of it or none.
    ///
    /// - Throws: ``StoreError`` with SQLite's message.
    package func execute(schema: String) throws { try run(schema: schema) { _ in } }

    /// - Parameter note: called before, in the same transaction.
    private func run(schema: String, _ note: (Database) throws -> Void) throws {
        do {
            let lock = try RunLock(schemaOf: path)
            defer { lock?.unlock() }
            try pool.write { db in
                try note(db)
                try db.execute(sql: schema)
            }
        } catch let error as DatabaseError {
            throw StoreError(
                .schema,
                (error.message ?? error.description) + (error.sql.map { ", in \"\($0.prefix(200))\"" } ?? ""))
        }
    }

    package func apply(schemaAfter sql: String) throws {
        let digest = Fingerprint.hexadecimal(sql)
        let known = try reading {
            try pool.read { db in
                try String.fetchOne(db, sql: "SELECT digest FROM main.tributary_schema WHERE name = 'schema_after'")
            }
        }
        guard known != digest else { return }
        try run(schema: sql) { db in
            try db.execute(
                sql: """
                    INSERT INTO main.tributary_schema (name, digest, applied_at)
                    VALUES ('schema_after', ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
                    ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, applied_at = excluded.applied_at
                    """, arguments: [digest])
        }
    }

    /// Opens an existing store for reading, without a migration.
    package init(readingAt path: String) throws {
        let lockWait = LockWait()
        self.lockWait = lockWait
        leases = nil
        self.path = path
        workFolder = path + "-work"
        probing = StoreProbe(path)
        var configuration = Configuration()
        configuration.readonly = true
        // Another process may be creating the store.
        configuration.busyMode = .callback { lockWait.pause(tries: $0) }
        configuration.prepareDatabase { try $0.addRowDigest() }
        do {
            try OwnMigrations.checkAge(ofStore: path, lockWait)
            pool = try DatabasePool(path: path, configuration: configuration)
            writer = SQLiteWriter(pool)
            states = try Self.openStates(path, lockWait)
            files = StoreFiles(path: path, resolved: states.resolvedPath)
        } catch let error as DatabaseError {
            throw StoreError(opening: path, error)
        }
    }

    /// Tributary's own tables, on one of the store's connections.
    func ledger(_ db: Database) -> Ledger { Ledger(db, SQLiteLedgerDialect(), leases: leases) }

    /// Makes a small write, together with others that wait for the writing connection.
    ///
    /// - Throws: ``StoreError``.
    func transactInGroup(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        try files.checkStore()
        do {
            try await writer.writeInGroup(body)
        } catch let error as DatabaseError {
            throw StoreError(commit: error, path: path)
        }
    }

    /// Checks that the store's files have not been removed or replaced. Readers would not notice: they continue with
    /// the opened files.
    ///
    /// - Throws: ``StoreError`` naming the removed or replaced file.
    package func checkPlace() throws { try files.check() }

    /// Does the same as ``checkPlace()`` for the store's own file alone. Each commit calls it.
    func checkFile() throws { try files.checkStore() }

    /// Moves committed changes from the write-ahead log into the store's file, and empties the log where no reader needs
    /// it. Waits only for this process's own commit.
    package func tidy() throws {
        try pool.writeWithoutTransaction { try $0.emptyLog(within: .zero) }
    }

    /// Ends waits for other processes' locks within three seconds. Called when the program stops.
    package func stopWaiting() { lockWait.end() }

    /// Closes every connection. The store must not be used afterwards. The file then has all commits, and the log is
    /// empty, unless a reader needs the log or another process is writing.
    package func close() throws {
        // SQLite would remove the log that lies beside the file that is there now.
        let isInPlace = (try? files.check()) != nil
        if !pool.configuration.readonly {
            try? pool.writeWithoutTransaction { db in
                // Some reads of others end meanwhile.
                if isInPlace { try db.emptyLog(within: .milliseconds(100)) } else { db.leaveLog() }
            }
        }
        let closing = Result { try states.close() }
        let probeClosing = Result { try probing.close(leavingLog: !isInPlace) }
        // A connection that only reads cannot bring anything into the file, so the one that writes comes last.
        pool.invalidateReadOnlyConnections()
        try pool.close()
        try closing.get()
        try probeClosing.get()
    }

    static func openStates(_ path: String, _ lockWait: LockWait) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "states"
        configuration.readonly = true
        configuration.busyMode = .callback { lockWait.pause(tries: $0) }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    package func tableInfo(_ name: String) throws -> StoredTable {
        if let known = tableInfos.known[name] { return known }
        guard let info = try reading({ try pool.read { try tableInfos.info(of: name, in: $0) } }) else {
            throw StoreError(
                .schema,
                "the store has no table '\(name)'; create it in the file that 'schema' of [store] names, or in a migration"
            )
        }
        return info
    }

    package func historyProblem(of table: String) -> String? { nil }

    /// Returns the names of tables that the store does not have.
    package func missingTables(among names: Set<String>) throws -> [String] {
        try reading {
            try pool.unsafeRead { db in
                try names.sorted().filter { try tableInfos.info(of: $0, in: db).map { $0.kind == .view } ?? true }
            }
        }
    }

    // MARK: - Worker contexts

    /// The folder of scratch databases and hand-over files: beside the store, on the same file system.
    package let workFolder: String

    package func claim(_ source: String, at origin: String?) throws -> (any SourceClaim)? {
        try RunLock(store: self, source: source)
    }

    package func claimed(among sources: [String]) throws -> Set<String> {
        try RunLock.held(among: sources, storePath: path)
    }

    /// Creates the context in which a source's run stages its rows. Only the holder of the source's ``RunLock`` may
    /// call it.
    package func makeWorkerContext(source: String) -> WorkerContext {
        WorkerContext(store: self, source: source)
    }

    /// Forgets cached tables if the schema has changed. Each run that uses tables begins with it.
    package func renewTableInfos(of tables: Set<String>?, within age: Duration) throws {
        try reading { try states.unsafeRead(tableInfos.renew) }
    }

    /// Removes the scratch databases left by runs that a crash cut off. Those of running sources are kept.
    package func removeAbandonedScratch() throws {
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: workFolder), !files.isEmpty else {
            return
        }
        for file in files {
            guard let source = ScratchDatabase.fingerprint(of: file) ?? ScratchBody.fingerprint(of: file),
                let lock = try RunLock(storePath: path, fingerprint: source)
            else { continue }
            ScratchDatabase.removeFile(at: workFolder + "/" + file)
            lock.unlock()
        }
    }
}

extension Database {
    /// Runs a schema that may contain statements which no transaction allows, such as pragmas.
    fileprivate func run(schema: String) throws {
        defer {
            // It would stay open for the next writer. Its changes are not wanted, or SQLite has rolled them back
            // already.
            if isInsideTransaction { try? rollback() }
        }
        try execute(sql: schema)
        guard !isInsideTransaction else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR, message: "the schema leaves a transaction open; end it with COMMIT")
        }
    }
}

extension Database {
    /// Copies the log's changes into the database's file, and empties the log. Otherwise the next program to open the
    /// database alone would read the whole log before its first query (walformat.html, "Recovery").
    ///
    /// - Parameter limit: the longest wait for readers of the log and for other writers. If they take longer, the
    ///   rest of the log stays.
    fileprivate func emptyLog(within limit: Duration) throws {
        do {
            _ = try LockWait.limited(to: limit) { try checkpoint(.truncate) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
        }
    }

    /// Keeps the log when the connection is closed.
    func leaveLog() { _ = tributary_leave_log(sqliteConnection) }
}

extension DatabaseQueue {
    /// Reads a file on a connection of its own, which cannot write.
    ///
    /// - Parameter seconds: the longest wait for a lock of another process.
    static func reading<Value>(
        _ path: String, waiting seconds: Double = 10,
        prepare: @escaping @Sendable (Database) throws -> Void = { _ in }, _ body: (Database) throws -> Value
    ) throws -> Value {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(seconds)
        configuration.prepareDatabase(prepare)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read(body)
    }

    /// The file that is open, without symbolic links (c3ref/db_filename.html).
    fileprivate var resolvedPath: String {
        unsafeRead { db in
            sqlite3_db_filename(db.sqliteConnection, "main").map { String(cString: $0) } ?? path
        }
    }
}

extension Database {
    /// Makes sure that the write-ahead log is not empty, by a commit that is synced.
    ///
    /// GRDB needs a log that is not empty, and otherwise writes to it without a sync. If the next sync fails, Linux drops these
    /// pages, and with them every later commit of any process in the same log.
    fileprivate func beginLog(at path: String) throws {
        var log = stat()
        guard stat(path, &log) != 0 || log.st_size == 0 else { return }
        try execute(sql: "PRAGMA journal_mode = WAL; PRAGMA main.synchronous = FULL")
        try inTransaction(.immediate) {
            let version = try Int.fetchOne(self, sql: "PRAGMA user_version") ?? 0
            try execute(sql: "PRAGMA user_version = \(version)")
            return .commit
        }
    }
}
