package import FeedConfiguration
package import FeedExporting
package import FeedModel
package import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import GRDB
import Logging
import SQLiteStore
package import TestStores
package import TestSupport
package import Testing
package import TributaryEngine
import TributaryStores

/// A server, a store of the kind over which the test runs, and syncs of what a `sources.toml` says, each with a service of its own.
package struct EngineFixture {
    package static let schema = """
        CREATE TABLE IF NOT EXISTS company (id TEXT PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS item (
            id TEXT PRIMARY KEY, name TEXT, size INTEGER, company TEXT REFERENCES company(id));
        """
    private static let parsers: [Parser] = [
        .class(ItemsParser.self), .class(CompaniesParser.self), .class(ThrowingParser.self), .class(BulkParser.self),
    ]
    package static let registry = ParserRegistry(parsers)

    package let server: StubServer
    package let folder: TemporaryFolder
    package let store: TestStore
    package let clock = ManualClock()
    /// The parsers that a declaration can name.
    private let parsers: ParserRegistry

    /// - Parameter parsers: those of the test, beside ``parsers``.
    package static func with(
        parsers: [Parser] = [], _ body: (EngineFixture) async throws -> Void
    ) async throws {
        try await withStubServer { server in
            try await withTemporaryFolder { folder in
                try await withTestStore(in: folder) { store in
                    let fixture = EngineFixture(
                        server: server, folder: folder, store: store, parsers: ParserRegistry(Self.parsers + parsers))
                    try fixture.write(schema: schema)
                    try await body(fixture)
                }
            }
        }
    }

    /// The file of a store in SQLite.
    package var storePath: String { store.path }

    /// Writes the store's schema file, in SQL for SQLite.
    package func write(schema: String) throws { try folder.write(StoreKind.current.sql(schema), to: "schema.sql") }

    package func configuration(_ sources: String, environment: [String: String] = [:]) throws -> TributaryConfiguration
    {
        let text =
            store.declaration + "schema = \"schema.sql\"\n"
            + sources.replacingOccurrences(of: "URL", with: server.url)
        return try TributaryConfiguration(
            file: folder.write(text, to: "sources.toml"), parsers: parsers, environment: environment)
    }

    /// A service whose records wait for no others where its clock stands still.
    package func service(_ sources: String, clock: any RunClock, environment: [String: String] = [:]) throws
        -> SyncService
    {
        try SyncService(
            configuration: configuration(sources, environment: environment), parsers: parsers,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock,
            recordWindow: clock is ManualClock ? .zero : .milliseconds(50))
    }

    @discardableResult
    package func sync(
        _ sources: String, _ names: [String] = [], mode: RefreshMode = .force, clock: (any RunClock)? = nil,
        environment: [String: String] = [:]
    ) async throws -> [RunReport] {
        let service = try service(sources, clock: clock ?? SystemClock(), environment: environment)
        let reports = try await service.sync(names, mode: mode)
        try service.store.close()
        return reports.sorted { $0.source < $1.source }
    }

    /// Replays the kept bodies of the source `s`.
    package func replay(_ sources: String, all: Bool = false) async throws -> RunReport {
        let service = try service(sources, clock: SystemClock())
        let source = try #require(try configuration(sources)[source: "s"])
        let report = try await service.replay(source, all: all)
        try service.store.close()
        return report
    }

    /// Expects that a file with these sources is refused, with this in the message.
    package static func expectMistake(
        _ sources: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let text =
                "[store]\npath = \"store.sqlite\"\nschema = \"schema.sql\"\n"
                + sources.replacingOccurrences(of: "URL", with: "http://127.0.0.1:1")
            let file = try folder.write(text, to: "sources.toml")
            #expect(sourceLocation: sourceLocation) {
                try TributaryConfiguration(file: file, parsers: registry, environment: [:])
            } throws: { error in
                "\(error)".contains(expected)
            }
        }
    }

    package func rows(_ sql: String) throws -> [String] { try store.rows(sql) }

    /// Returns an SQLite file with the tables that the source `s` maps: the store itself, or a copy of them.
    package func mappedTables(_ configuration: TributaryConfiguration) throws -> String {
        guard case .server = configuration.store else { return storePath }
        let request = try #require(configuration[source: "s"]?.requests.first)
        let path = folder.file("copy-\(UUID()).sqlite")
        let store = try #require(try configuration.openExistingStore())
        try store.copy(MappingExporter.tables(of: request) ?? [], to: path)
        try store.close()
        return path
    }

    /// Returns what writes the rows of the source `s` back as XML.
    package func exporter(_ configuration: TributaryConfiguration) throws -> MappingExporter {
        let request = try #require(configuration[source: "s"]?.requests.first)
        return try #require(
            MappingExporter(
                request, storePath: mappedTables(configuration), configuration: configuration,
                makeStore: TributaryConfiguration.makeTrialStore))
    }

    /// How many descriptors of this process are the fixture's: its files, and connections to its server.
    package var descriptors: Int {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.count { number in
            let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + number)) ?? ""
            if target.hasPrefix(folder.path) { return true }
            guard target.hasPrefix("socket:"), let descriptor = Int32(number) else { return false }
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
            }
            return isConnected && Int(UInt16(bigEndian: address.sin_port)) == server.port
        }
    }

    package func dump() throws -> [String] { try store.dump() }

    /// `<items>` of these ids.
    package static func items(_ ids: [String], name: String = "n") -> String {
        "<items>" + ids.map { "<item id='\($0)'><name>\(name)</name></item>" }.joined() + "</items>"
    }

    package static func request(_ path: String, _ options: String = "", of source: String = "s") -> String {
        "[[sources.\(source).requests]]\nurl = \"URL\(path)\"\nparser = \"ItemsParser\"\n\(options)\n"
    }
}

extension FeedResponse {
    /// An answer without headers.
    package static func at(_ url: String) -> FeedResponse {
        FeedResponse(
            requestedURL: url, url: url, status: 200, headers: [], fetchedAt: Date(timeIntervalSince1970: 0),
            validators: Validators())
    }
}

/// Collects what is written piece by piece.
package final class ByteCollector {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package func append(_ more: [UInt8]) { bytes += more }
}

package struct Item: FeedRecord, Equatable {
    package var id: String?
    package var name: String?
    package var size: Int?
    package var company: String?

    package init(id: String? = nil, name: String? = nil, size: Int? = nil, company: String? = nil) {
        (self.id, self.name, self.size, self.company) = (id, name, size, company)
    }
}

package final class ItemsParser: FeedParser {
    package override class var tables: [String] { ["item"] }
    private var item = Item()

    package override func didStartElement() throws {
        if element == "item" { item = Item(id: attributes["id"], company: attributes["company"]) }
    }

    package override func didEndElement() throws {
        switch element {
        case "name": bind(&item.name)
        case "size": bind(&item.size)
        case "item": try context.insert(item)
        default: break
        }
    }
}

package final class CompaniesParser: FeedParser {
    package override func didEndElement() throws {
        if element == "company" {
            try context.insert(into: "company", ["id": attributes["id"], "name": attributes["name"]])
        }
    }
}

package final class ThrowingParser: FeedParser {
    package struct Refusal: Error {}
    package override func didEndElement() throws {
        try context.insert(Item(id: "staged"))
        if element == "name" { throw Refusal() }
    }
}

/// Stages as many rows as the root element says.
package final class BulkParser: FeedParser {
    package override func didEndElement() throws {
        for number in 0..<(Int(attributes["count"] ?? "") ?? 0) {
            try context.insert(Item(id: "bulk-\(number)", name: "b"))
        }
    }
}
