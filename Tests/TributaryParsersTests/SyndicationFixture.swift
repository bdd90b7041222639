import Foundation
import Logging
import TestStores
import TestSupport
import Testing
import Tributary
import TributaryParsers

/// A server of feeds, and syncs of them into one store of the kind over which the test runs.
struct SyndicationFixture {
    let server: StubServer
    let folder: TemporaryFolder
    let store: TestStore

    static func with(_ body: (SyndicationFixture) async throws -> Void) async throws {
        try await withStubServer { server in
            try await withTemporaryFolder { folder in
                try await withTestStore(in: folder) { store in
                    try await body(SyndicationFixture(server: server, folder: folder, store: store))
                }
            }
        }
    }

    /// One source named `s` with a request for each path, unless other sources are given.
    @discardableResult
    func sync(
        _ paths: [String] = ["/feed"], sources: String? = nil, parser: FeedParser.Type = SyndicationParser.self
    ) async throws -> RunReport {
        let requests = paths.map { "[[sources.s.requests]]\nurl = \"URL\($0)\"\n" }.joined()
        let text =
            store.declaration + "[defaults]\nparser = \"\(parser)\"\n" + (sources ?? requests)
        let registry = ParserRegistry([.class(parser)])
        let file = try folder.write(text.replacingOccurrences(of: "URL", with: server.url), to: "sources.toml")
        let service = try SyncService(
            configuration: TributaryConfiguration(
                file: file, parsers: registry, environment: ["TOKEN": "geheim", "SERVER": server.url]),
            parsers: registry, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let reports = try await service.sync(mode: .full)
        try service.close()
        return try #require(reports.first)
    }

    func rows(_ sql: String) throws -> [String] { try store.rows(sql) }

    /// Makes the store as an earlier program left it.
    func execute(_ sql: String) throws {
        try store.execute(sql.replacingOccurrences(of: "URL", with: server.url))
    }

    /// What one document gives; `URL` in the expectation is the server's.
    static func expect(
        _ document: String, _ sql: String, _ expected: [String], path: String = "/feed",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await with { fixture in
            fixture.server.document(path, document)
            let report = try await fixture.sync([path])
            #expect(report.error == nil, sourceLocation: sourceLocation)
            let expected = expected.map { $0.replacingOccurrences(of: "URL", with: fixture.server.url) }
            #expect(try fixture.rows(sql) == expected, sourceLocation: sourceLocation)
        }
    }

    static func atom(_ content: String, _ attributes: String = "") -> String {
        "<feed xmlns='http://www.w3.org/2005/Atom' \(attributes)>\(content)</feed>"
    }

    static func rss(_ content: String, _ attributes: String = "") -> String {
        "<rss version='2.0' \(attributes)><channel>\(content)</channel></rss>"
    }
}
