import Foundation
import PostgresStore
import PostgresServer
import TestSupport
import Testing

/// Daemons and commands that are told to stop while a PostgreSQL does not answer.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(10))) struct StopTests {
    private enum Silence: CaseIterable {
        /// COMMIT waits for a standby that does not exist.
        case commitWaits
        /// The processes of the sessions do nothing, in the middle of a COMMIT.
        case sessionsStopped
        /// No process of the server does anything: not even a connection comes about.
        case serverStopped
    }

    /// Runs a command until one of its commits waits, makes the server silent, and stops the command.
    private func expectStop(_ command: [String], _ silence: Silence, status: Int32) async throws {
        var options = PostgresServer.Options()
        options.settings = ["synchronous_standby_names = 'nobody'", "synchronous_commit = local"]
        try await withPostgresServer(options) { (server) async throws in
            try await withStubServer { (stub) async throws in
                try await withTemporaryFolder { (folder) async throws in
                    let origin = StackOrigin(stub)
                    let program = try origin.program(url: server.connectionString(), in: folder, "sources.toml")
                    #expect(try await program.run("sync").status == 0)
                    let observer = try server.connect()
                    try observer.executeScript(
                        """
                        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                            PERFORM set_config('synchronous_commit', 'on', true);
                            RETURN NULL;
                        END $$;
                        CREATE TRIGGER wait AFTER UPDATE ON second FOR EACH STATEMENT EXECUTE FUNCTION wait();
                        """)
                    let log = try folder.write("", to: "log")
                    let running = try RunningProgram(program, command, standardError: log)
                    defer { running.signal(SIGKILL) }
                    let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                    var sessions: [Int32] = []
                    while sessions.isEmpty {
                        sessions = try observer.execute(waiting).compactMap { try $0.int64(0).map { Int32($0) } }
                        try await Task.sleep(for: .milliseconds(5))
                    }
                    switch silence {
                    case .commitWaits: break
                    case .sessionsStopped: for session in sessions { kill(session, SIGSTOP) }
                    case .serverStopped: try server.pause()
                    }
                    // Nothing lets the commit go on before the program has ended.
                    running.signal(SIGTERM)
                    #expect(await running.end() == status)
                    switch silence {
                    case .commitWaits: break
                    case .sessionsStopped: for session in sessions { kill(session, SIGCONT) }
                    case .serverStopped: try server.resume()
                    }
                    // Nothing is half there, whatever became of the commit.
                    let versions = try StackOrigin.rows(
                        server.connect(),
                        "SELECT f.source FROM first f JOIN second s USING (source, id) WHERE f.v <> s.v")
                    #expect(versions.isEmpty)
                }
            }
        }
    }

    @Test(arguments: Silence.allCases) private func aDaemonEnds(silence: Silence) async throws {
        try await expectStop(["run"], silence, status: 0)
    }

    @Test(arguments: Silence.allCases) private func syncEnds(silence: Silence) async throws {
        try await expectStop(["sync", "--force"], silence, status: -SIGTERM)
    }
}
