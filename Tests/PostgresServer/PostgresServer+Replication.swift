import PostgresStore

/// Streaming replication.
extension PostgresServer {
    /// The name by which a primary knows its standby.
    private static let standbyName = "standby"

    /// Copies another server's data, and the settings by which this server follows it as a standby.
    func copyData(of primary: PostgresServer) throws {
        let source = primary.connectionString() + " application_name=\(Self.standbyName)"
        try ServerProgram.run(
            "pg_basebackup",
            ["-D", data, "-d", source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--no-manifest"],
            log: programLog)
    }

    /// Makes a standby a primary. Returns when it takes writes.
    package func promote() throws {
        try ServerProgram.run("pg_ctl", ["promote", "-D", data, "-w", "-t", "30"], log: programLog)
    }
}

/// Runs a body with a primary and the standby that follows it, and removes them after it.
///
/// Commits at the primary wait for the standby where `synchronous_commit` is `on`, or `remote_apply`; it is `local`.
package func withReplicatedServers<Value>(
    _ body: (_ primary: PostgresServer, _ standby: PostgresServer) async throws -> Value
) async throws -> Value {
    var options = PostgresServer.Options()
    options.settings = ["synchronous_standby_names = 'standby'", "synchronous_commit = local"]
    return try await withPostgresServer(options) { (primary) async throws in
        var options = PostgresServer.Options()
        options.settings = [
            "synchronous_standby_names = ''",
            // What else takes a standby ten seconds to tell that it is there, and five to take over.
            "wal_receiver_status_interval = 1s", "wal_retrieve_retry_interval = 50ms",
        ]
        options.primary = primary
        return try await withPostgresServer(options) { (standby) async throws in
            let observer = try primary.connect()
            let synchronous = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'"
            while try observer.execute(synchronous).isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            observer.close()
            return try await body(primary, standby)
        }
    }
}
