package import PostgresStore

/// A database of one test's own.
package struct TestDatabase: Sendable {
    package let server: PostgresServer
    package let name: String

    /// For libpq, over the Unix socket, as the superuser.
    package var connectionString: String { server.connectionString(database: name) }

    package func connect() throws -> PostgresConnection { try PostgresConnection(connectionString) }
}
