import FeedModel
import Foundation
import PostgresClient

/// The user's own SQL.
extension PostgresStore {
    /// Runs idempotent SQL, all of it or none.
    ///
    /// - Throws: ``StoreError`` with the line of the statement that failed.
    package func execute(schema: String) throws { try execute(schema: schema) { _ in true } }

    package func apply(schemaAfter sql: String) throws {
        let digest = Fingerprint.hexadecimal(sql)
        let known = "SELECT FROM tributary_schema WHERE name = 'schema_after' AND digest = $1"
        guard try ask({ try $0.execute(known, [.text(digest)]).isEmpty }) else { return }
        try execute(schema: sql) { connection in
            // Another daemon may have been first.
            guard try connection.execute(known, [.text(digest)]).isEmpty else { return false }
            try connection.execute(
                """
                INSERT INTO tributary_schema VALUES ('schema_after', $1, clock_timestamp())
                ON CONFLICT (name) DO UPDATE SET digest = EXCLUDED.digest, applied_at = EXCLUDED.applied_at
                """, [.text(digest)])
            return true
        }
    }

    /// - Parameter isNeeded: called before, in the same transaction; false if the SQL need not be run.
    private func execute(schema: String, isNeeded: (PostgresConnection) throws -> Bool) throws {
        do {
            // A connection of its own, as the script may leave settings behind.
            let connection = try PostgresConnection(connectionString)
            defer { connection.close() }
            try Self.run(schema: schema, connection, isNeeded: isNeeded)
        } catch let error as PostgresError {
            throw StoreError(error.kind == .statement ? .schema : .unavailable, error.text)
        }
    }

    /// The time for which one attempt waits for a lock.
    private static let longestWait = "SET LOCAL lock_timeout = '50ms'"
    /// The longest wait for sessions that use the objects that the SQL changes.
    private static let timeLimit = Duration.seconds(120)

    /// Runs the SQL in one transaction, after all others that change the schema.
    ///
    /// A session that waits for a reader's lock delays all later readers. So each attempt waits for some milliseconds
    /// only, and pauses in between.
    ///
    /// - Parameter isNeeded: called before, in the same transaction; false to skip the SQL.
    /// - Throws: `PostgresError`
    static func run(
        schema: String, _ connection: PostgresConnection, isNeeded: (PostgresConnection) throws -> Bool
    ) throws {
        let end = ContinuousClock.now + timeLimit
        while true {
            do {
                return try OwnTables.whileLocked(connection) {
                    guard try isNeeded(connection) else { return }
                    try connection.execute(longestWait)
                    try connection.executeScript(schema)
                }
            } catch let error as PostgresError where error.state == .lockNotAvailable && ContinuousClock.now < end {
                Thread.sleep(forTimeInterval: 0.25)
            }
        }
    }
}

/// The lock under which tables are created: several daemons may prepare one store at once.
enum SchemaLock {
    /// Locks for the rest of the transaction, once no other session holds it.
    ///
    /// Whoever waits to change a table holds up all who come later, even to read it; so such waits are short.
    static func take(_ connection: PostgresConnection) throws {
        try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('tributary.tables', 0))")
        // Waiting for an advisory lock does not make the session notice tables that others have created meanwhile: names
        // that it has looked up in vain remain unknown. The lock on a table does.
        try connection.execute("SELECT FROM pg_class LIMIT 0")
        try connection.execute("SET LOCAL lock_timeout = '10s'")
    }
}
