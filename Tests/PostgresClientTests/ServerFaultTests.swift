import PostgresStore
import PostgresServer
import Testing

/// Servers that refuse, hang, are full, or go away.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct ServerFaultTests {
    @Test func encryption() async throws {
        var options = PostgresServer.Options()
        options.listensOnTCP = true
        options.hasTLS = true
        options.access = ["hostnossl all all 127.0.0.1/32 reject"]
        try await withPostgresServer(options) { server in
            let string = "hostaddr=127.0.0.1 port=\(server.port) dbname=postgres user=postgres gssencmode=disable"
            let verified = "\(string) sslmode=verify-full sslrootcert=\(server.certificateFile)"
            let connection = try PostgresConnection(verified + " host=localhost")
            #expect(try connection.strings("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == ["t"])
            let mistakes = [
                (verified + " host=other.example", "connect by a name that the server's certificate holds"),
                (string + " sslmode=disable", "pg_hba.conf"),
                (string + " sslmode=verify-ca sslrootcert=/nonexistent", "as sslrootcert"),
                (string.replacing("port=\(server.port)", with: "port=1"), "listens at this address and port"),
            ]
            for (string, advice) in mistakes {
                let error = postgresError { _ = try PostgresConnection(string) }
                #expect(error?.description.contains(advice) == true, "\(error.debugDescription)")
            }
        }
    }

    /// A server that takes connections and then says nothing.
    @Test func silentServer() async throws {
        try await withPostgresServer { server in
            let connection = try server.connect()
            try server.pause()
            let error = postgresError { _ = try PostgresConnection(server.connectionString() + " connect_timeout=2") }
            #expect(error?.description.contains("timeout expired") == true)
            #expect(error?.isTransient == true)
            // Nothing but this side's giving up ends a statement there.
            let interrupt = connection.interrupt
            let other = OtherThread { interrupt.abandon() }
            let abandoned = postgresError { try connection.execute("SELECT 1") }
            try other.join()
            #expect(abandoned?.isConnectionLost == true)
            #expect(!connection.isOpen)
            try server.resume()
        }
    }

    @Test func tooManyConnections() async throws {
        var options = PostgresServer.Options()
        options.settings = ["max_connections = 4", "superuser_reserved_connections = 0", "max_wal_senders = 0"]
        try await withPostgresServer(options) { server in
            var connections: [PostgresConnection] = []
            let error = postgresError { while connections.count < 10 { connections.append(try server.connect()) } }
            #expect(error?.state == .tooManyConnections)
            #expect(error?.isTransient == true)
            #expect(error?.description.contains("max_connections") == true)
        }
    }

    @Test func startingAndStopping() async throws {
        try await withPostgresServer { server in
            let connection = try server.connect()
            try connection.execute("CREATE TABLE kept (id int)")
            try server.kill()
            expectError(.connectionLost) { try connection.execute("SELECT 1") }
            expectError(.connecting) { _ = try server.connect() }
            try server.start()
            let next = try server.connect()
            #expect(try next.execute("SELECT * FROM kept").isEmpty)
            try server.stop()
            expectError(.connectionLost) { try next.execute("SELECT 1") }
        }
    }
}
