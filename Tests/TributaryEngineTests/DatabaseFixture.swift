import FeedConfiguration
import FeedModel
import Foundation
import Logging
import PostgresStore
import PostgresServer
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// A database in which things go wrong, a server of feeds, and services that keep the one in step with the other.
struct DatabaseFixture {
    /// One source with two tables, of which the second refers to the first.
    static let stack = """
        [sources.s]
        cache = "1h"
        [[sources.s.requests]]
        url = "URL/companies"
        parser = "CompaniesParser"
        sync = "mirror"
        [[sources.s.requests]]
        url = "URL/items"
        parser = "ItemsParser"
        sync = "mirror"
        """
    private static let companies = 5

    let server: StubServer
    let folder: TemporaryFolder
    let database: TestDatabase
    /// The store's connection string.
    var url: String
    /// The items of each version.
    var items = 20

    /// - Parameter options: of a server of the test's own, which it may stop; nil for the server that all tests share.
    static func with(
        own options: PostgresServer.Options? = nil, _ body: (DatabaseFixture) async throws -> Void
    ) async throws {
        func run(_ database: TestDatabase) async throws {
            try await withStubServer { (server) async throws in
                try await withTemporaryFolder { (folder) async throws in
                    try folder.write(StoreKind.postgres.sql(EngineFixture.schema), to: "schema.sql")
                    try await body(
                        DatabaseFixture(
                            server: server, folder: folder, database: database, url: database.connectionString))
                }
            }
        }
        guard let options else {
            return try await withPostgresDatabase { (database) async throws in try await run(database) }
        }
        try await withPostgresServer(options) { (server) async throws in
            try await server.withDatabase { (database) async throws in try await run(database) }
        }
    }

    // MARK: - Runs

    /// Answers the source's requests with rows that all hold the name of a version.
    func serve(_ version: String) {
        let name = version + String(repeating: ".", count: 100)
        let companies = (0..<Self.companies).map { "<company id='\($0)' name='\(name)'/>" }.joined()
        let items = (0..<items).map {
            "<item id='\($0)' company='\($0 % Self.companies)'><name>\(name)</name></item>"
        }.joined()
        server.document("/companies", "<companies>\(companies)</companies>")
        server.document("/items", "<items>\(items)</items>")
    }

    func service(_ sources: String = stack, clock: any RunClock = SystemClock()) throws -> SyncService {
        let text =
            "[store]\nurl = \"\(url)\"\nschema = \"schema.sql\"\n" + sources.replacing("URL", with: server.url)
        let registry = EngineFixture.registry
        let configuration = try TributaryConfiguration(
            file: folder.write(text, to: "sources.toml"), parsers: registry, environment: [:])
        return try SyncService(
            configuration: configuration, parsers: registry,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock)
    }

    /// Runs the source once, whether it is due or not.
    func sync(_ version: String) async throws -> RunReport {
        serve(version)
        let service = try service()
        let reports = try await service.sync(mode: .force)
        try service.close()
        return try #require(reports.first)
    }

    /// Runs a body while a daemon runs, whose first run has committed the version `a`.
    func withDaemon(_ body: (Daemon) async throws -> Void) async throws {
        serve("a")
        let service = try service()
        let running = Task { try await service.run() }
        let daemon = Daemon(service: service, fixture: self)
        let result: Result<Void, any Error>
        do {
            let first = try await daemon.nextReport()
            #expect(first.outcome == .committed, "\(first)")
            try await body(daemon)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        running.cancel()
        try? await running.value
        try service.close()
        try result.get()
    }

    /// A service that runs.
    final class Daemon {
        let service: SyncService
        private let fixture: DatabaseFixture
        private var reports: AsyncStream<RunReport>.Iterator

        fileprivate init(service: SyncService, fixture: DatabaseFixture) {
            self.service = service
            self.fixture = fixture
            reports = service.outcomes.makeAsyncIterator()
        }

        func nextReport() async throws -> RunReport { try #require(await reports.next(isolation: #isolation)) }

        /// Asks for a run of a version.
        func run(_ version: String) async throws -> RunReport {
            fixture.serve(version)
            service.refresh()
            return try await nextReport()
        }
    }

    // MARK: - What is there

    func rows(_ sql: String) throws -> [String] { try Self.rows(sql, try database.connect()) }

    static func rows(_ sql: String, _ connection: PostgresConnection) throws -> [String] {
        try connection.execute(sql).map { row in
            (0..<row.columnCount).map { row.string($0) ?? "NULL" }.joined(separator: "|")
        }
    }

    /// Expects every row of a version and no other, and that each run that committed is recorded once.
    func expectStack(_ version: String, commits: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let contents = try rows(
            """
            SELECT count(*), min(rtrim(name, '.')), max(rtrim(name, '.')) FROM company
            UNION ALL SELECT count(*), min(rtrim(name, '.')), max(rtrim(name, '.')) FROM item
            """)
        let expected = ["\(Self.companies)|\(version)|\(version)", "\(items)|\(version)|\(version)"]
        #expect(contents == expected, sourceLocation: sourceLocation)
        let runs = try rows(
            "SELECT count(*), count(DISTINCT started_at) FROM tributary_run WHERE outcome = 'committed'")
        #expect(runs == ["\(commits)|\(commits)"], sourceLocation: sourceLocation)
        let changes = try rows("SELECT count(*), count(DISTINCT run) FROM tributary_change")
        #expect(changes == ["\(commits * (Self.companies + items))|\(commits)"], sourceLocation: sourceLocation)
    }

    /// Returns once a session of the database waits for an event.
    func waitForSession(waitingFor event: String) async throws {
        let observer = try database.connect()
        let waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = '\(event)'"
        while try observer.execute(waiting).isEmpty { try await Task.sleep(for: .milliseconds(2)) }
    }

    func execute(_ sql: String) throws { try database.connect().executeScript(sql) }

    /// Ends all sessions of the database, so that new ones have new settings.
    func endSessions() throws {
        try execute(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }
}
