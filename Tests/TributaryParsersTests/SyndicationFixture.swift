import Foundation
import GRDB
import Logging
import TestSupport
import Testing
import Tributary
import TributaryParsers

/// A server of feeds, and syncs of them into one store.
struct SyndicationFixture {
    let server: StubServer
    let folder: TemporaryFolder

    static func with(_ body: (SyndicationFixture) async throws -> Void) async throws {
        try await withStubServer { server in
            try await withTemporaryFolder { folder in
                try await body(SyndicationFixture(server: server, folder: folder))
            }
        }
    }

    var storePath: String { folder.file("store.sqlite") }

    /// One source named `s` with a request for each path, unless other sources are given.
    @discardableResult
    func sync(_ paths: [String] = ["/feed"], sources: String? = nil) async throws -> RunReport {
        let requests = paths.map { "[[sources.s.requests]]\nurl = \"URL\($0)\"\n" }.joined()
        let text =
            "[store]\npath = \"store.sqlite\"\n[defaults]\nparser = \"SyndicationParser\"\n" + (sources ?? requests)
        let registry = ParserRegistry([SyndicationParser.self])
        let file = try folder.write(text.replacingOccurrences(of: "URL", with: server.url), to: "sources.toml")
        let service = try SyncService(
            configuration: TributaryConfiguration(file: file, parsers: registry, environment: ["TOKEN": "geheim"]),
            parsers: registry, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let reports = try await service.sync(mode: .full)
        try service.close()
        return try #require(reports.first)
    }

    func rows(_ sql: String) throws -> [String] {
        try DatabaseQueue(path: storePath).read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.map { String.fromDatabaseValue($0.1) ?? ($0.1.isNull ? "NULL" : "\($0.1)") }
                    .joined(separator: "|")
            }
        }
    }

    /// Makes the store as an earlier program left it.
    func execute(_ sql: String) throws {
        try DatabaseQueue(path: storePath).write {
            try $0.execute(sql: sql.replacingOccurrences(of: "URL", with: server.url))
        }
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
