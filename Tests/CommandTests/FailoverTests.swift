import Foundation
import PostgresStore
import PostgresServer
import Synchronization
import TestSupport
import Testing

/// A daemon whose primary dies, and whose standby is promoted.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct FailoverTests {
    /// Waits until a query gives these rows.
    private func wait(_ connection: PostgresConnection, _ sql: String, for expected: [String]) async throws {
        while try StackOrigin.rows(connection, sql) != expected { try await Task.sleep(for: .milliseconds(10)) }
    }

    private func waitForFirstRuns(_ store: PostgresConnection) async throws {
        try await wait(store, "SELECT to_regclass('tributary_run') IS NOT NULL", for: ["t"])
        try await wait(store, "SELECT DISTINCT source FROM tributary_run ORDER BY source", for: StackOrigin.sources)
    }

    /// The primary dies in the middle of a COMMIT of which its standby may have heard or not.
    @Test(.timeLimit(.minutes(10))) func theDaemonGoesOnWithThePromotedStandby() async throws {
        try await withReplicatedServers { (primary, standby) async throws in
            try await withStubServer { (server) async throws in
                try await withTemporaryFolder { (folder) async throws in
                    try await failOver(from: primary, to: standby, server, folder)
                }
            }
        }
    }

    private func failOver(
        from primary: PostgresServer, to standby: PostgresServer, _ server: StubServer, _ folder: TemporaryFolder
    ) async throws {
        let origin = StackOrigin(server)
        let observer = try primary.connect()
        try observer.execute("CREATE ROLE tributary LOGIN SUPERUSER")
        // What the daemon was told to be committed is on the standby.
        try observer.execute("ALTER ROLE tributary SET synchronous_commit = on")
        try observer.execute("CREATE DATABASE feeds OWNER tributary")
        func program(hosts: String, _ name: String) throws -> BuiltProgram {
            try origin.program(url: "host=\(hosts) dbname=feeds user=tributary", in: folder, name)
        }
        let log = try folder.write("", to: "log")
        let both = "\(primary.folder),\(standby.folder) target_session_attrs=read-write"
        let daemon = try RunningProgram(program(hosts: both, "both.toml"), ["run"], standardError: log)
        defer { daemon.signal(SIGKILL) }

        let store = try PostgresConnection(primary.connectionString(database: "feeds"))
        try await waitForFirstRuns(store)

        let alone = try program(hosts: standby.folder, "standby.toml")
        let refused = try await alone.run("sync")
        #expect(refused.status == 1, "\(refused)")
        for text in ["feeds", "the server is a standby, which is read-only; connect to the primary"] {
            #expect(refused.standardError.contains(text), "\(refused)")
        }
        for (command, text) in [(["status"], "s0"), (["history"], "committed"), (["check", "--store"], "no mistakes")] {
            let output = try await alone.start(command).output()
            #expect(output.status == 0 && output.standardOutput.contains(text), "\(output)")
        }

        // After the run was claimed, which would else be what waits.
        try await withCheckedThrowingContinuation { continuation in
            origin.beforeNextCommit { continuation.resume(with: Result { try standby.pause() }) }
        }
        let committing = "SELECT count(*) > 0 FROM pg_stat_activity WHERE query = 'COMMIT' AND wait_event = 'SyncRep'"
        try await wait(store, committing, for: ["t"])
        try primary.kill()
        let death = Date()
        try standby.resume()
        try standby.promote()

        let promoted = try PostgresConnection(standby.connectionString(database: "feeds"))
        let again = """
            SELECT DISTINCT source FROM tributary_run WHERE outcome = 'committed'
            AND started_at > to_timestamp(\(death.timeIntervalSince1970)) ORDER BY source
            """
        try await wait(promoted, again, for: StackOrigin.sources)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        try origin.expectWhole(promoted, log: String(contentsOfFile: log, encoding: .utf8))
    }

    /// Sessions end and the server dies at random moments.
    @Test(
        .enabled(if: ProcessInfo.processInfo.environment["TRIBUTARY_FAILOVER"] != nil, "TRIBUTARY_FAILOVER=1 runs it"))
    func noStackIsHalfThereOrTwiceWheneverTheServerDies() async throws {
        try await withPostgresServer { (server) async throws in
            try await withStubServer { (stub) async throws in
                try await withTemporaryFolder { (folder) async throws in
                    let origin = StackOrigin(stub)
                    let log = try folder.write("", to: "log")
                    let program = try origin.program(url: server.connectionString(), in: folder, "sources.toml")
                    let daemon = try RunningProgram(program, ["run"], standardError: log)
                    defer { daemon.signal(SIGKILL) }
                    try await waitForFirstRuns(server.connect())
                    var random = SplitMix64(seed: 14)
                    for _ in 0..<60 {
                        daemon.signal(SIGUSR1)
                        try await Task.sleep(for: .milliseconds(Int.random(in: 20...400, using: &random)))
                        switch Int.random(in: 0..<10, using: &random) {
                        case 0:
                            try server.stop(.immediate)
                            try server.start()
                        case 1:
                            try server.kill()
                            try server.start()
                        case 2:
                            try server.stop(.fast)
                            try server.start()
                        case let number:
                            try server.connect().execute(
                                """
                                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                                WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
                                AND (\(number < 5) OR random() < 0.3)
                                """)
                        }
                    }
                    let store = try server.connect()
                    let again = """
                        SELECT DISTINCT source FROM tributary_run WHERE outcome = 'committed'
                        AND started_at > to_timestamp(\(Date().timeIntervalSince1970)) ORDER BY source
                        """
                    try await wait(store, again, for: StackOrigin.sources)
                    daemon.signal(SIGTERM)
                    #expect(await daemon.end() == 0)
                    try origin.expectWhole(store, log: String(contentsOfFile: log, encoding: .utf8))
                }
            }
        }
    }
}
