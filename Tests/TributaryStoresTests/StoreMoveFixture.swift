import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import Logging
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine
import TributaryStores

/// A server, and two stores of which one is to receive what the other has.
struct StoreMoveFixture: Sendable {
    /// The kinds of the old store and the new one.
    struct Direction: Sendable, CustomTestStringConvertible {
        var old: StoreKind
        var new: StoreKind

        var testDescription: String { "\(old.rawValue) to \(new.rawValue)" }

        static let all = StoreKind.allCases.filter(\.isAvailable).flatMap { old in
            StoreKind.allCases.filter(\.isAvailable).map { Direction(old: old, new: $0) }
        }
    }

    /// Tables of the users' own, some of which refer to each other and to themselves.
    static let schema =
        EngineFixture.schema + """
            CREATE TABLE IF NOT EXISTS node (
                id TEXT PRIMARY KEY, up TEXT REFERENCES node(id), size INTEGER,
                twice INTEGER GENERATED ALWAYS AS (size * 2) STORED);
            CREATE TABLE IF NOT EXISTS numbered (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
            """

    let server: StubServer
    let old: Side
    let new: Side

    /// One of the stores, and the folder of its `sources.toml`.
    struct Side: Sendable {
        let kind: StoreKind
        let folder: TemporaryFolder
        let store: TestStore

        func rows(_ sql: String) throws -> [String] { try store.rows(sql) }

        /// The number of rows of tables, of which each may be missing, as may be the store.
        func count(_ tables: String...) -> Int {
            guard kind == .postgres || FileManager.default.fileExists(atPath: store.path) else { return 0 }
            return tables.reduce(0) { $0 + ((try? rows("SELECT 1 FROM \($1)").count) ?? 0) }
        }
    }

    static func with(_ direction: Direction, _ body: (StoreMoveFixture) async throws -> Void) async throws {
        try await withStubServer { server in
            try await withSide(direction.old) { old in
                try await withSide(direction.new) { new in
                    try await body(StoreMoveFixture(server: server, old: old, new: new))
                }
            }
        }
    }

    private static func withSide(_ kind: StoreKind, _ body: (Side) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await StoreKind.$current.withValue(kind) {
                try await withTestStore(in: folder) { store in
                    try folder.write(kind.sql(schema), to: "schema.sql")
                    try await body(Side(kind: kind, folder: folder, store: store))
                }
            }
        }
    }

    func configuration(_ sources: String, of side: Side) throws -> TributaryConfiguration {
        let text =
            side.store.declaration + "schema = \"schema.sql\"\n"
            + sources.replacingOccurrences(of: "URL", with: server.url)
        return try TributaryConfiguration(
            file: side.folder.write(text, to: "sources.toml"), parsers: EngineFixture.registry, environment: [:])
    }

    @discardableResult
    func sync(_ sources: String, of side: Side, mode: RefreshMode = .force) async throws -> [RunReport] {
        let service = try SyncService(
            configuration: configuration(sources, of: side), parsers: EngineFixture.registry,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: SystemClock())
        let reports = try await service.sync([], mode: mode)
        try service.store.close()
        return reports.sorted { $0.source < $1.source }
    }

    @discardableResult
    func move(_ sources: String, stop: Stop = Stop()) async throws -> StoreMoveReport {
        let from = try configuration(sources, of: old)
        let to = try from.moved(to: configuration(sources, of: new).store, schema: new.folder.file("schema.sql"))
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try from.moveStore(to: to, parsers: EngineFixture.registry, stop: stop)
                    })
            }
        }
    }

    /// Expects that the move is refused with all of these in the message, and that nothing has arrived.
    func expectRefusal(
        _ sources: String, _ expected: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = await #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
            try await move(sources)
        }
        for text in expected {
            #expect(error?.message.contains(text) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        }
    }
}
