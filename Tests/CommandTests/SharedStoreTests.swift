import Foundation
import PostgresStore
import PostgresServer
import TestSupport
import Testing

/// Several daemons, as processes, on one PostgreSQL store.
@Suite(.serialized, .enabled(if: PostgresServer.isAvailable)) struct SharedStoreTests {
    private struct Fixture {
        let database: TestDatabase
        let origin: DaemonOrigin
        let folder: TemporaryFolder

        var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

        /// The file that takes the warnings of all daemons.
        var log: String { folder.file("log") }

        func start() throws -> RunningProgram {
            try RunningProgram(program, ["run", "--log-level", "warning"], standardError: log)
        }

        func rows(_ sql: String) throws -> [String] {
            try database.connect().execute(sql).map { row in
                (0..<row.columnCount).map { row.string($0) ?? "NULL" }.joined(separator: "|")
            }
        }

        struct Status: Decodable {
            var source: String
            var daemon: String?
        }

        func status() async throws -> [Status] {
            struct Printed: Decodable { var sources: [Status] }
            let output = try await program.run("status", "--json")
            return try JSONDecoder().decode(Printed.self, from: Data(output.standardOutput.utf8)).sources
        }
    }

    /// - Parameter perHost: the most requests at one host at the same time.
    private func withFixture(
        hosts: Int, sourcesOfEach: Int, cache: String, perHost: Int = 2, _ body: (Fixture) async throws -> Void
    ) async throws {
        try await withPostgresDatabase { (database) async throws in
            try await withTemporaryFolder { (folder) async throws in
                let origin = try DaemonOrigin(hosts: hosts, sourcesOfEach: sourcesOfEach, answerTime: 0.05)
                defer { origin.stop() }
                try folder.write(
                    """
                    [store]
                    url = "\(database.connectionString)"
                    [daemon]
                    concurrency = 8
                    per_host = \(perHost)

                    \(origin.declarations(cache: cache))
                    """, to: "sources.toml")
                try folder.write("", to: "log")
                try await body(Fixture(database: database, origin: origin, folder: folder))
            }
        }
    }

    private struct Late: Error, CustomStringConvertible { var description: String }

    /// Waits until a condition holds, and fails if that takes longer than a busy machine can make it.
    private func wait(_ fixture: Fixture, for what: String, _ condition: () async throws -> Bool) async throws {
        let seconds = 120
        let deadline = ContinuousClock.now + .seconds(seconds)
        while try await !condition() {
            guard .now < deadline else {
                let log = try String(contentsOfFile: fixture.log, encoding: .utf8)
                throw Late(description: "\(what) took longer than \(seconds) s\n\(log)")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func waitForAgreement(_ fixture: Fixture, of count: Int) async throws {
        let sharing =
            "SELECT count(*), count(DISTINCT sharing) FROM tributary_daemon WHERE seen_at > now() - interval '15 s'"
        try await wait(fixture, for: "the agreement of \(count) daemons") {
            try fixture.rows("SELECT to_regclass('tributary_daemon') IS NOT NULL") == ["t"]
                && fixture.rows(sharing) == ["\(count)|1"]
        }
    }

    /// Needs a machine with nothing else to do: it measures that sources are on time.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TRIBUTARY_CHAOS"] != nil, "TRIBUTARY_CHAOS=1 runs it"))
    func noSourceIsFetchedTwiceWhateverHappensToTheDaemons() async throws {
        try await withFixture(hosts: 12, sourcesOfEach: 4, cache: "2s") { (fixture) async throws in
            var daemons = try (0..<3).map { _ in try fixture.start() }
            defer {
                for daemon in daemons {
                    daemon.signal(SIGCONT)
                    daemon.signal(SIGKILL)
                }
            }
            try await waitForAgreement(fixture, of: 3)
            try await wait(fixture, for: "the first round") {
                fixture.origin.missing(from: .now - .seconds(60), to: .now).isEmpty
            }
            let shares = Dictionary(grouping: try await fixture.status(), by: \.daemon)
            #expect(shares.count == 3 && shares[nil] == nil, "\(shares.mapValues(\.count))")
            let (killed, paused) = (daemons[0], daemons[1])
            let death = ContinuousClock.now
            killed.signal(SIGKILL)
            paused.signal(SIGSTOP)
            try await Task.sleep(for: .seconds(2))
            daemons.append(try fixture.start())
            daemons[2].signal(SIGHUP)
            try await wait(fixture, for: "the dead daemons' sources") {
                fixture.origin.missing(from: death + .seconds(1), to: .now).isEmpty
            }
            let isOnTimeAgain = ContinuousClock.now
            try await Task.sleep(until: max(.now, death + .seconds(24)))
            paused.signal(SIGCONT)
            try await waitForAgreement(fixture, of: 3)
            try await Task.sleep(for: .seconds(6))
            let end = ContinuousClock.now
            for daemon in daemons.dropFirst() { daemon.signal(SIGTERM) }
            for daemon in daemons.dropFirst() {
                let status = await daemon.end()
                #expect(status == 0)
            }

            let early = fixture.origin.early(.seconds(2))
            let unexplained = early.filter { !(death - .seconds(1)...death + .seconds(1)).contains($0.first.began) }
            #expect(unexplained.isEmpty, "\(unexplained)")
            #expect(early.count <= 16)
            let most = fixture.origin.mostAtOneHost
            #expect(most <= 2)
            #expect(isOnTimeAgain - death < .seconds(30))
            let missing = fixture.origin.missing(from: end - .seconds(4), to: end)
            #expect(missing.isEmpty)
            // No run began before the one before it had ended: nobody committed over a successor.
            let overlaps = """
                SELECT count(*) FROM (
                    SELECT started_at < lag(finished_at) OVER (PARTITION BY source ORDER BY started_at) AS is_early
                    FROM tributary_run WHERE outcome IN ('committed', 'unchanged')) run WHERE is_early
                """
            #expect(try fixture.rows(overlaps) == ["0"])
            #expect(
                try fixture.rows("SELECT count(*) FROM tributary_daemon WHERE seen_at > now() - interval '15 s'") == [
                    "0"
                ])
        }
    }

    @Test func refreshAndStatusReachDaemonsThroughTheStore() async throws {
        try await withFixture(hosts: 4, sourcesOfEach: 2, cache: "1h") { (fixture) async throws in
            let nobody = try await fixture.program.run("sync")
            #expect(nobody.status == 0, "\(nobody.standardError)")
            let alone = try await fixture.program.run("refresh", "s0x0")
            #expect(alone.status == 1 && alone.standardError.contains("no daemon runs on postgresql://"))
            let statusAlone = try await fixture.program.run("status")
            #expect(statusAlone.standardOutput.contains("No daemon runs"))

            let daemons = try (0..<2).map { _ in try fixture.start() }
            defer { for daemon in daemons { daemon.signal(SIGKILL) } }
            try await waitForAgreement(fixture, of: 2)
            let status = try await fixture.program.run("status")
            #expect(status.standardOutput.contains("DAEMON") && !status.standardOutput.contains("No daemon"))
            for daemon in daemons { #expect(status.standardOutput.contains(":\(daemon.identifier) (")) }
            try await wait(fixture, for: "the owners of all sources") {
                try await fixture.status().allSatisfy { $0.daemon != nil }
            }
            // Nothing is due, and everything has been fetched once.
            #expect(fixture.origin.requests.count == 8)
            for source in fixture.origin.sources {
                let refresh = try await fixture.program.run("refresh", source)
                #expect(refresh.status == 0 && refresh.standardOutput.contains("to refresh \(source)"))
                try await wait(fixture, for: "the refresh of \(source)") {
                    fixture.origin.requests.filter { $0.source == source }.count == 2
                }
            }
            let all = try await fixture.program.run("refresh", "--json")
            #expect(all.standardOutput.contains("\"daemons\":["), "\(all.standardOutput)")
            try await wait(fixture, for: "the refresh of all") { fixture.origin.requests.count == 24 }
            for daemon in daemons { daemon.signal(SIGTERM) }
            for daemon in daemons {
                let status = await daemon.end()
                #expect(status == 0)
            }
            #expect(try fixture.rows("SELECT count(*) FROM tributary_daemon") == ["0"])
        }
    }
}
