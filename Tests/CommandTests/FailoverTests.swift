import Foundation
import PostgresClient
import PostgresServer
import Synchronization
import TestSupport
import Testing

/// A daemon whose primary dies, and whose standby is promoted.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct FailoverTests {
    private static let sources = (0..<6).map { "s\($0)" }
    private static let rows = 40

    /// Serves two documents for each source. All rows of both hold the number of the source's run.
    private final class Origin: Sendable {
        private let versions = Mutex<[String: Int]>([:])
        private let hook = Mutex<(@Sendable () -> Void)?>(nil)

        init(_ server: StubServer) {
            for source in FailoverTests.sources {
                server.route("/first-\(source)") { [self] _ in
                    Self.document(
                        versions.withLock { versions in
                            versions[source, default: 0] += 1
                            return versions[source] ?? 0
                        })
                }
                server.route("/second-\(source)") { [self] _ in
                    hook.withLock { $0.take() }?()
                    return Self.document(versions.withLock { $0[source] ?? 0 })
                }
            }
        }

        /// Calls a body once, before the last answer of some run.
        func beforeNextCommit(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

        private static func document(_ version: Int) -> [StubServer.Step] {
            let entries = (0..<FailoverTests.rows).map { "<e id='\($0)' v='\(version)'/>" }.joined()
            return StubServer.response(200, "<es>\(entries)</es>")
        }
    }

    private static func declarations(_ server: StubServer) -> String {
        sources.flatMap { source in
            ["first", "second"].map { table in
                """
                [[sources.\(source).requests]]
                url = "\(server.url)/\(table)-\(source)"
                scope = { source = "\(source)" }
                tables = [{ table = "\(table)", element = "e", key = ["source", "id"], sync = "mirror", \
                columns = { source = { value = "\(source)" }, id = "@id", v = "@v" } }]

                """
            }
        }.joined()
    }

    private func rows(_ connection: PostgresConnection, _ sql: String) throws -> [String] {
        try connection.execute(sql).map { row in
            (0..<row.columnCount).map { row.string($0) ?? "NULL" }.joined(separator: "|")
        }
    }

    /// Waits until a query gives these rows.
    private func wait(_ connection: PostgresConnection, _ sql: String, for expected: [String]) async throws {
        while try rows(connection, sql) != expected { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// The primary dies in the middle of a COMMIT of which its standby may have heard or not.
    @Test(.timeLimit(.minutes(2))) func theDaemonGoesOnWithThePromotedStandby() async throws {
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
        let observer = try primary.connect()
        try observer.execute("CREATE ROLE tributary LOGIN SUPERUSER")
        // What the daemon was told to be committed is on the standby.
        try observer.execute("ALTER ROLE tributary SET synchronous_commit = on")
        try observer.execute("CREATE DATABASE feeds OWNER tributary")
        func program(hosts: String, _ name: String) throws -> BuiltProgram {
            let text = """
                [store]
                url = "host=\(hosts) dbname=feeds user=tributary"
                [daemon]
                concurrency = 6
                per_host = 6
                [defaults]
                cache = "1s"

                \(Self.declarations(server))
                """
            return BuiltProgram("tributary", config: try folder.write(text, to: name))
        }
        let origin = Origin(server)
        let log = try folder.write("", to: "log")
        let both = "\(primary.folder),\(standby.folder) target_session_attrs=read-write"
        let daemon = try RunningProgram(program(hosts: both, "both.toml"), ["run"], standardError: log)
        defer { daemon.signal(SIGKILL) }

        let store = try PostgresConnection(primary.connectionString(database: "feeds"))
        try await wait(store, "SELECT to_regclass('tributary_run') IS NOT NULL", for: ["t"])
        let repeated = "SELECT source FROM tributary_run GROUP BY source HAVING count(*) > 1 ORDER BY source"
        try await wait(store, repeated, for: Self.sources)

        let alone = try program(hosts: standby.folder, "standby.toml")
        let refused = try await alone.run("sync")
        #expect(refused.status == 1, "\(refused)")
        for text in ["feeds", "the server is a standby, which only reads; connect to the primary"] {
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
        try await wait(promoted, again, for: Self.sources)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        try expectWhole(promoted, log: String(contentsOfFile: log, encoding: .utf8))
    }

    private func expectWhole(_ store: PostgresConnection, log: String) throws {
        let stacks = try rows(
            store,
            """
            SELECT source, count(*), count(DISTINCT v) FROM (SELECT * FROM first UNION ALL SELECT * FROM second) e
            GROUP BY source ORDER BY source
            """)
        #expect(stacks == Self.sources.map { "\($0)|\(2 * Self.rows)|1" })
        let twice = try rows(
            store, "SELECT source, started_at FROM tributary_run GROUP BY source, started_at HAVING count(*) > 1")
        #expect(twice.isEmpty)
        // Each run met a version of its own, and so has changed every row once.
        let incomplete = try rows(
            store,
            """
            SELECT r.id, count(c.id) FROM tributary_run r FULL JOIN tributary_change c ON c.run = r.id
            WHERE r.outcome IS NULL OR r.outcome = 'committed' GROUP BY r.id HAVING count(c.id) <> \(2 * Self.rows)
            """)
        #expect(incomplete.isEmpty)
        // What the daemon has said of its commits is true.
        for source in Self.sources {
            let said = log.components(separatedBy: "\(source): committed:").count - 1
            let recorded = try rows(
                store, "SELECT count(*) FROM tributary_run WHERE source = '\(source)' AND outcome = 'committed'")
            #expect(recorded == ["\(said)"], "\(log)")
        }
    }
}
