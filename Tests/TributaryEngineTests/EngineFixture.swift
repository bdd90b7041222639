import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB
import Logging
import TestStores
import TestSupport
import Testing
@testable import FeedDeclarations
import FeedExporting
@testable import FeedParsing
@testable import TributaryEngine
import TributaryStores

/// A server, a store of the kind over which the test runs, and syncs of what a `sources.toml` says, each with a service of its own.
struct EngineFixture {
    static let schema = """
        CREATE TABLE IF NOT EXISTS company (id TEXT PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS item (
            id TEXT PRIMARY KEY, name TEXT, size INTEGER, company TEXT REFERENCES company(id));
        """
    static let registry = ParserRegistry([
        .class(ItemsParser.self), .class(CompaniesParser.self), .class(ThrowingParser.self), .class(BulkParser.self),
        .class(MarkupTests.MarkupParser.self),
        .class(ParserNamespaceTests.EpisodesParser.self), .record(RecordTableTests.Product.self),
    ])

    let server: StubServer
    let folder: TemporaryFolder
    let store: TestStore
    let clock = ManualClock()

    static func with(_ body: (EngineFixture) async throws -> Void) async throws {
        try await withStubServer { server in
            try await withTemporaryFolder { folder in
                try await withTestStore(in: folder) { store in
                    let fixture = EngineFixture(server: server, folder: folder, store: store)
                    try fixture.write(schema: schema)
                    try await body(fixture)
                }
            }
        }
    }

    /// The file of a store in SQLite.
    var storePath: String { store.path }

    /// Writes the store's schema file, in SQL for SQLite.
    func write(schema: String) throws { try folder.write(StoreKind.current.sql(schema), to: "schema.sql") }

    func configuration(_ sources: String, environment: [String: String] = [:]) throws -> TributaryConfiguration {
        let text =
            store.declaration + "schema = \"schema.sql\"\n"
            + sources.replacingOccurrences(of: "URL", with: server.url)
        return try TributaryConfiguration(
            file: folder.write(text, to: "sources.toml"), parsers: Self.registry, environment: environment)
    }

    /// A service whose records wait for no others where its clock stands still.
    func service(_ sources: String, clock: any RunClock, environment: [String: String] = [:]) throws -> SyncService {
        try SyncService(
            configuration: configuration(sources, environment: environment), parsers: Self.registry,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock,
            recordWindow: clock is ManualClock ? .zero : RecordWindow.length)
    }

    @discardableResult
    func sync(
        _ sources: String, _ names: [String] = [], mode: RefreshMode = .force, clock: (any RunClock)? = nil,
        environment: [String: String] = [:]
    ) async throws -> [RunReport] {
        let service = try service(sources, clock: clock ?? SystemClock(), environment: environment)
        let reports = try await service.sync(names, mode: mode)
        try service.store.close()
        return reports.sorted { $0.source < $1.source }
    }

    /// Expects that a file with these sources is refused, with this in the message.
    static func expectMistake(
        _ sources: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await with { (fixture) async throws in
            #expect(sourceLocation: sourceLocation) {
                try fixture.configuration(sources)
            } throws: { error in
                "\(error)".contains(expected)
            }
        }
    }

    func rows(_ sql: String) throws -> [String] { try store.rows(sql) }

    /// Returns an SQLite file with the tables that the source `s` maps: the store itself, or a copy of them.
    func mappedTables(_ configuration: TributaryConfiguration) throws -> String {
        guard case .server = configuration.store else { return storePath }
        let request = try #require(configuration[source: "s"]?.requests.first)
        let path = folder.file("copy-\(UUID()).sqlite")
        let store = try #require(try configuration.openExistingStore())
        try store.copy(MappingExporter.tables(of: request) ?? [], to: path)
        try store.close()
        return path
    }

    /// Returns what writes the rows of the source `s` back as XML.
    func exporter(_ configuration: TributaryConfiguration) throws -> MappingExporter {
        let request = try #require(configuration[source: "s"]?.requests.first)
        return try #require(
            MappingExporter(
                request, storePath: mappedTables(configuration), configuration: configuration,
                makeStore: TributaryConfiguration.makeTrialStore))
    }

    /// How many descriptors of this process are the fixture's: its files, and connections to its server.
    var descriptors: Int {
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

    func dump() throws -> [String] { try store.dump() }

    /// `<items>` of these ids.
    static func items(_ ids: [String], name: String = "n") -> String {
        "<items>" + ids.map { "<item id='\($0)'><name>\(name)</name></item>" }.joined() + "</items>"
    }

    static func request(_ path: String, _ options: String = "", of source: String = "s") -> String {
        "[[sources.\(source).requests]]\nurl = \"URL\(path)\"\nparser = \"ItemsParser\"\n\(options)\n"
    }
}

struct Item: FeedRecord, Equatable {
    var id: String?
    var name: String?
    var size: Int?
    var company: String?
}

final class ItemsParser: FeedParser {
    override class var tables: [String] { ["item"] }
    private var item = Item()

    override func didStartElement() throws {
        if element == "item" { item = Item(id: attributes["id"], company: attributes["company"]) }
    }

    override func didEndElement() throws {
        switch element {
        case "name": bind(&item.name)
        case "size": bind(&item.size)
        case "item": try context.insert(item)
        default: break
        }
    }
}

final class CompaniesParser: FeedParser {
    override func didEndElement() throws {
        if element == "company" {
            try context.insert(into: "company", ["id": attributes["id"], "name": attributes["name"]])
        }
    }
}

final class ThrowingParser: FeedParser {
    struct Refusal: Error {}
    override func didEndElement() throws {
        try context.insert(Item(id: "staged"))
        if element == "name" { throw Refusal() }
    }
}

/// Stages as many rows as the root element says.
final class BulkParser: FeedParser {
    override func didEndElement() throws {
        for number in 0..<(Int(attributes["count"] ?? "") ?? 0) {
            try context.insert(Item(id: "bulk-\(number)", name: "b"))
        }
    }
}
