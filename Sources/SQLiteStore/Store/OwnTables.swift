import FeedModel
import Foundation
import GRDB

/// Tributary's own tables in the main store. Users query them; Documentation/Tables.md documents them.
enum OwnTables {
    /// Refuses tables of a newer program, whose meaning is unknown, and of the programs before the first release.
    ///
    /// - Parameter failure: makes an error of the reason.
    static func checkAge(_ db: Database, _ failure: (String) -> StoreError) throws {
        var migrator = DatabaseMigrator()
        register(in: &migrator)
        // A program may have migrations of its own in the same file.
        let names = try migrator.appliedIdentifiers(db).filter { $0.hasPrefix(TributaryVersion.migrationPrefix) }
        guard !names.isSubset(of: migrator.migrations) else { return }
        var applied: [(name: String, program: String?)] = []
        if try db.tableExists("tributary_migration") {
            applied = try Row.fetchAll(
                db, sql: "SELECT name, program FROM main.tributary_migration ORDER BY applied_at DESC"
            ).map { (name: $0["name"] as String, program: $0["program"] as String?) }.filter { names.contains($0.name) }
        }
        applied += names.subtracting(applied.map(\.name)).map { (name: $0, program: nil) }
        let reason = TributaryVersion.refusal(ofMigrations: applied, known: migrator.migrations)
        if let reason { throw failure(reason) }
    }

    /// Does the same before the store is opened: GRDB writes to the log of each that it opens for writing.
    ///
    /// - Throws: ``StoreError``
    static func checkAge(ofStore path: String, _ lockWait: LockWait) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try checkAge(ofStore: path, lockWait, isReadOnly: true)
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            // A power failure, or a kill, has cut off the creation of the store. SQLite undoes what there is of it first.
            try checkAge(ofStore: path, lockWait, isReadOnly: false)
        }
    }

    private static func checkAge(ofStore path: String, _ lockWait: LockWait, isReadOnly: Bool) throws {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .callback { [lockWait] in lockWait.pause(tries: $0) }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let check = Result {
            try queue.read { db in
                try checkAge(db) { StoreError(.unavailable, "the store \(path) cannot be opened: \($0)") }
            }
        }
        try queue.close()
        try check.get()
    }

    /// False if the tables exist, but lack a migration.
    static func areUpToDate(_ db: Database) throws -> Bool {
        var migrator = DatabaseMigrator()
        register(in: &migrator)
        // A program may have migrations of its own in the same file.
        return try migrator.hasCompletedMigrations(db)
            || migrator.appliedIdentifiers(db).isDisjoint(with: migrator.migrations)
    }

    static func register(in migrator: inout DatabaseMigrator) {
        // Otherwise GRDB checks all rows of the file, and refuses a store with a broken reference of another program.
        migrator.registerMigration("tributary.1.0", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: creation)
            try db.execute(
                sql: """
                    INSERT INTO tributary_migration (name, applied_at, program)
                    VALUES ('tributary.1.0', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?)
                    """, arguments: [TributaryVersion.full])
        }
    }

    private static let creation = """
        CREATE TABLE tributary_run (
            id INTEGER PRIMARY KEY,
            source TEXT NOT NULL,
            kind TEXT,
            started_at TEXT NOT NULL,
            finished_at TEXT NOT NULL,
            outcome TEXT NOT NULL,
            inserted INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            unchanged INTEGER NOT NULL,
            replaced INTEGER NOT NULL,
            skipped INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            seconds REAL NOT NULL,
            error TEXT,
            requests TEXT NOT NULL,
            failing_since TEXT,
            first_change INTEGER,
            last_change INTEGER,
            history INTEGER NOT NULL DEFAULT 0,
            drift TEXT,
            restored INTEGER
        );
        CREATE INDEX tributary_run_source ON tributary_run (source, id);
        CREATE INDEX tributary_run_started_at ON tributary_run (started_at);
        CREATE INDEX tributary_run_changing ON tributary_run (id) WHERE first_change IS NOT NULL;
        CREATE TABLE tributary_change (
            id INTEGER PRIMARY KEY,
            run INTEGER NOT NULL,
            "table" TEXT NOT NULL,
            key,
            operation TEXT NOT NULL
        );
        CREATE TABLE tributary_source (
            source TEXT PRIMARY KEY NOT NULL,
            outcome TEXT,
            last_run TEXT,
            last_commit TEXT,
            next_due TEXT,
            wait REAL,
            failures INTEGER NOT NULL,
            failing_since TEXT,
            last_good TEXT,
            error TEXT,
            note TEXT,
            blocked INTEGER NOT NULL DEFAULT 0,
            gone TEXT,
            asked_until TEXT,
            declared TEXT,
            attempts INTEGER NOT NULL DEFAULT 0,
            undone TEXT,
            paused_at TEXT
        ) WITHOUT ROWID;
        CREATE INDEX tributary_source_failing_since ON tributary_source (failing_since) WHERE failing_since IS NOT NULL;
        CREATE TABLE tributary_request (
            source TEXT NOT NULL,
            key TEXT NOT NULL,
            etag TEXT,
            last_modified TEXT,
            fingerprint TEXT NOT NULL,
            tables TEXT NOT NULL,
            sync TEXT NOT NULL,
            scope TEXT NOT NULL,
            digest TEXT,
            moved_to TEXT,
            moved_times INTEGER NOT NULL DEFAULT 0,
            schema TEXT,
            bodies TEXT,
            shape TEXT,
            PRIMARY KEY (source, key)
        ) WITHOUT ROWID;
        CREATE TABLE tributary_host (origin TEXT PRIMARY KEY NOT NULL, not_before TEXT NOT NULL, wait REAL) WITHOUT ROWID;
        CREATE TABLE tributary_acceptance (source TEXT PRIMARY KEY NOT NULL, until TEXT NOT NULL, run INTEGER) WITHOUT ROWID;
        CREATE TABLE tributary_hook (
            name TEXT PRIMARY KEY NOT NULL,
            run INTEGER NOT NULL,
            step INTEGER NOT NULL DEFAULT 0,
            delivered_at TEXT,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt TEXT,
            error TEXT,
            gone TEXT
        ) WITHOUT ROWID;
        CREATE TABLE tributary_hook_source (
            hook TEXT NOT NULL,
            source TEXT NOT NULL,
            failing INTEGER NOT NULL,
            blocked INTEGER NOT NULL,
            stale INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (hook, source)
        ) WITHOUT ROWID;
        CREATE TABLE tributary_migration (name TEXT PRIMARY KEY NOT NULL, applied_at TEXT NOT NULL, program TEXT NOT NULL);
        CREATE TABLE tributary_schema (
            name TEXT PRIMARY KEY NOT NULL, digest TEXT NOT NULL, applied_at TEXT NOT NULL) WITHOUT ROWID;
        """
}
