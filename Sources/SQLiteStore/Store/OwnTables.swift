import FeedModel
import Foundation
import GRDB

/// Tributary's own tables in the main store. Users query them; Documentation/Tables.md documents them.
enum OwnTables {
    /// Refuses tables that a newer program has migrated, because their meaning is unknown.
    ///
    /// - Parameter failure: makes an error of the reason.
    static func checkAge(_ db: Database, _ failure: (String) -> StoreError) throws {
        var migrator = DatabaseMigrator()
        register(in: &migrator)
        // A program may have migrations of its own in the same file.
        let unknown = try migrator.appliedIdentifiers(db).subtracting(migrator.migrations)
            .filter { $0.hasPrefix(prefix) }
        guard !unknown.isEmpty else { return }
        let program =
            try db.tableExists("tributary_migration")
            ? Row.fetchAll(db, sql: "SELECT name, program FROM tributary_migration ORDER BY rowid DESC")
                .first { unknown.contains($0["name"]) }?["program"] as String? : nil
        throw failure(TributaryVersion.refusal(ofTablesMigratedBy: program))
    }

    /// Refuses a store that a newer program has migrated. Called before the store is opened: GRDB writes to the log of
    /// a store that it opens for writing.
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

    /// The prefix of all migrations' names.
    private static let prefix = "tributary."

    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerOwn("tributary.1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE tributary_run (
                        id INTEGER PRIMARY KEY,
                        source TEXT NOT NULL,
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
                        requests TEXT NOT NULL
                    );
                    CREATE INDEX tributary_run_source ON tributary_run (source, id);
                    CREATE INDEX tributary_run_started_at ON tributary_run (started_at);
                    CREATE TABLE tributary_request (
                        source TEXT NOT NULL,
                        key TEXT NOT NULL,
                        etag TEXT,
                        last_modified TEXT,
                        fingerprint TEXT NOT NULL,
                        tables TEXT NOT NULL,
                        sync TEXT NOT NULL,
                        scope TEXT NOT NULL,
                        PRIMARY KEY (source, key)
                    ) WITHOUT ROWID;
                    CREATE TABLE tributary_source (
                        source TEXT PRIMARY KEY NOT NULL,
                        outcome TEXT,
                        last_run TEXT,
                        last_commit TEXT,
                        next_due TEXT,
                        failures INTEGER NOT NULL,
                        error TEXT
                    ) WITHOUT ROWID;
                    CREATE TABLE tributary_change (
                        id INTEGER PRIMARY KEY,
                        run INTEGER NOT NULL,
                        "table" TEXT NOT NULL,
                        key,
                        operation TEXT NOT NULL
                    );
                    """)
        }
        migrator.registerOwn("tributary.2") { db in
            try db.execute(
                sql: """
                    ALTER TABLE tributary_source ADD COLUMN note TEXT;
                    ALTER TABLE tributary_source ADD COLUMN gone TEXT;
                    ALTER TABLE tributary_request ADD COLUMN digest TEXT;
                    ALTER TABLE tributary_request ADD COLUMN moved_to TEXT;
                    ALTER TABLE tributary_request ADD COLUMN moved_times INTEGER NOT NULL DEFAULT 0;
                    CREATE TABLE tributary_host (origin TEXT PRIMARY KEY NOT NULL, not_before TEXT NOT NULL) WITHOUT ROWID;
                    """)
        }
        migrator.registerOwn("tributary.3") { db in
            try db.execute(
                sql: """
                    ALTER TABLE tributary_source ADD COLUMN wait REAL;
                    ALTER TABLE tributary_source ADD COLUMN asked_until TEXT;
                    ALTER TABLE tributary_source ADD COLUMN declared TEXT;
                    ALTER TABLE tributary_source ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE tributary_host ADD COLUMN wait REAL;
                    """)
        }
        migrator.registerOwn("tributary.request-schema") { db in
            try db.execute(sql: "ALTER TABLE tributary_request ADD COLUMN schema TEXT")
        }
        migrator.registerOwn("tributary.acceptance") { db in
            try db.execute(
                sql: """
                    CREATE TABLE tributary_acceptance (source TEXT PRIMARY KEY NOT NULL, until TEXT NOT NULL) WITHOUT ROWID
                    """)
        }
        migrator.registerOwn("tributary.bodies") { db in
            try db.execute(
                sql: """
                    ALTER TABLE tributary_request ADD COLUMN bodies TEXT;
                    ALTER TABLE tributary_run ADD COLUMN kind TEXT;
                    """)
        }
        migrator.registerOwn("tributary.hook") { db in
            try db.execute(
                sql: """
                    ALTER TABLE tributary_source ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE tributary_source ADD COLUMN failing_since TEXT;
                    UPDATE tributary_source SET failing_since = last_run WHERE failures > 0;
                    CREATE INDEX tributary_source_failing_since ON tributary_source (failing_since)
                    WHERE failing_since IS NOT NULL;
                    ALTER TABLE tributary_run ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE tributary_run ADD COLUMN failing_since TEXT;
                    ALTER TABLE tributary_run ADD COLUMN first_change INTEGER;
                    ALTER TABLE tributary_run ADD COLUMN last_change INTEGER;
                    UPDATE tributary_run SET first_change = c.first, last_change = c.last
                    FROM (SELECT run, min(id) AS first, max(id) AS last FROM tributary_change GROUP BY run) c
                    WHERE c.run = tributary_run.id;
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
                        held INTEGER NOT NULL,
                        PRIMARY KEY (hook, source)
                    ) WITHOUT ROWID;
                    """)
        }
        migrator.registerOwn("tributary.history") { db in
            try db.execute(
                sql: """
                    ALTER TABLE tributary_run ADD COLUMN history INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE tributary_run ADD COLUMN restored INTEGER;
                    ALTER TABLE tributary_source ADD COLUMN undone TEXT;
                    """)
        }
        migrator.registerOwn("tributary.accepted-run") { db in
            try db.execute(sql: "ALTER TABLE tributary_acceptance ADD COLUMN run INTEGER")
        }
        migrator.registerOwn("tributary.schema") { db in
            try db.execute(
                sql: """
                    CREATE TABLE tributary_schema (
                        name TEXT PRIMARY KEY NOT NULL, digest TEXT NOT NULL, applied_at TEXT NOT NULL) WITHOUT ROWID
                    """)
        }
        migrator.registerOwn("tributary.stale") { db in
            try db.execute(
                sql: """
                    ALTER TABLE tributary_source ADD COLUMN last_good TEXT;
                    UPDATE tributary_source SET last_good = (
                        SELECT r.finished_at FROM tributary_run r
                        WHERE r.source = tributary_source.source AND r.outcome IN ('committed', 'unchanged') AND r.kind IS NULL
                        ORDER BY r.id DESC LIMIT 1);
                    ALTER TABLE tributary_hook_source ADD COLUMN stale INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerOwn("tributary.drift") { db in
            try db.execute(
                sql: """
                    ALTER TABLE tributary_request ADD COLUMN shape TEXT;
                    ALTER TABLE tributary_run ADD COLUMN drift TEXT;
                    """)
        }
        migrator.registerOwn("tributary.blocked") { db in
            // `tributary_run.held` stays, unused, as a view may read it.
            try db.execute(
                sql: """
                    UPDATE tributary_run SET outcome = 'blocked' WHERE held AND outcome = 'discarded';
                    ALTER TABLE tributary_source RENAME COLUMN held TO blocked;
                    ALTER TABLE tributary_hook_source RENAME COLUMN held TO blocked;
                    """)
        }
        migrator.registerOwn("tributary.pause") { db in
            try db.execute(sql: "ALTER TABLE tributary_source ADD COLUMN paused_at TEXT")
        }
        migrator.registerOwn("tributary.changing-runs") { db in
            try db.execute(
                sql: "CREATE INDEX tributary_run_changing ON tributary_run (id) WHERE first_change IS NOT NULL")
        }
    }
}

extension DatabaseMigrator {
    /// Registers a migration of Tributary's own tables, which notes the program that applies it.
    fileprivate mutating func registerOwn(_ name: String, _ migrate: @escaping @Sendable (Database) throws -> Void) {
        // Otherwise GRDB checks all rows of the file, and refuses a store with a broken reference of another program.
        registerMigration(name, foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS tributary_migration (
                        name TEXT PRIMARY KEY NOT NULL, applied_at TEXT NOT NULL, program TEXT NOT NULL)
                    """)
            try migrate(db)
            try db.execute(
                sql: """
                    INSERT INTO tributary_migration (name, applied_at, program)
                    VALUES (?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?)
                    """, arguments: [name, TributaryVersion.full])
        }
    }
}
