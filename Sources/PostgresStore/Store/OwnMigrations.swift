import FeedModel
import FeedStores

/// The migrations of Tributary's own tables in a database.
enum OwnMigrations {
    /// The statements that make or change the tables, each run once and in order.
    private static let migrations = [("tributary.1.0", OwnTables.creation(.postgres))]

    /// Runs a body in a transaction, after all others that change the schema.
    static func whileLocked(_ connection: PostgresConnection, _ body: () throws -> Void) throws {
        try connection.inTransaction {
            try SchemaLock.take(connection)
            // A script may wait for a commit that is under way, as CREATE INDEX IF NOT EXISTS does.
            try connection.execute("SET LOCAL lock_timeout = '120s'")
            try body()
        }
    }

    /// Returns true if some of the tables exist, of any version.
    static func exist(_ connection: PostgresConnection) throws -> Bool {
        try connection.execute("SELECT to_regclass('tributary_migration') IS NOT NULL")[0].bool(0) == true
    }

    static func areComplete(_ connection: PostgresConnection) throws -> Bool {
        guard try exist(connection) else { return false }
        let applied = try applied(connection)
        return migrations.allSatisfy { applied.contains($0.0) }
    }

    /// Returns the error of tables that a program of this version has yet to migrate.
    static func outdated(_ connection: PostgresConnection) -> StoreError {
        StoreError.cannotOpen(
            connection.address.url, "its tables are those of an earlier Tributary",
            help: "run 'tributary sync' or the daemon once, which brings them up to date")
    }

    /// Refuses tables of a newer program, whose meaning is unknown, and of the programs before the first release.
    static func checkAge(_ connection: PostgresConnection) throws {
        guard try exist(connection) else { return }
        // As JSON, since tables of the first programs have no such column.
        let applied = try connection.execute(
            "SELECT name, to_jsonb(m) ->> 'program' FROM tributary_migration m ORDER BY applied_at DESC"
        ).map { (name: $0.string(0) ?? "", program: $0.string(1)) }
        let reason = TributaryVersion.refusal(ofMigrations: applied, known: migrations.map(\.0))
        if let reason { throw StoreError.cannotOpen(connection.address.url, reason) }
    }

    /// Brings the tables up to date. The caller holds the lock.
    static func migrate(_ connection: PostgresConnection) throws {
        let applied = try exist(connection) ? applied(connection) : []
        for (name, sql) in migrations where !applied.contains(name) {
            try connection.executeScript(sql)
            try connection.execute(
                "INSERT INTO tributary_migration (name, program) VALUES ($1, $2)",
                [.text(name), .text(TributaryVersion.full)])
        }
    }

    private static func applied(_ connection: PostgresConnection) throws -> Set<String> {
        Set(try connection.execute("SELECT name FROM tributary_migration").compactMap { $0.string(0) })
    }
}
