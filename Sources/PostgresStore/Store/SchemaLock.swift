import PostgresClient

/// The lock under which tables are created: several daemons may prepare one store at once.
enum SchemaLock {
    /// Locks for the rest of the transaction, once no other session holds the lock.
    ///
    /// A session that waits to change a table delays all later ones, even readers; so such waits are short.
    static func take(_ connection: PostgresConnection) throws {
        try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('tributary.tables', 0))")
        // Waiting for an advisory lock does not make the session notice tables that others have created meanwhile: names
        // that it has looked up in vain remain unknown. The lock on a table does.
        try connection.execute("SELECT FROM pg_class LIMIT 0")
        try connection.execute("SET LOCAL lock_timeout = '10s'")
    }
}
