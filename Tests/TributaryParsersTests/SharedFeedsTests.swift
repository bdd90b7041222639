import Foundation
import GRDB
import Logging
import TestSupport
import Testing
import Tributary
import TributaryParsers

/// The parsers that ship, on small documents of our own and, where they are present, on the real feeds of `../shared`.
@Suite struct SharedFeedsTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        .standardizedFileURL
    static let feeds = root.appendingPathComponent("../shared/feeds").standardizedFileURL

    struct Feed: CustomTestStringConvertible {
        var path: String
        var root: String
        var records: Int
        var isWellFormed: Bool
        var testDescription: String { path }
    }

    /// The feeds of the index that the parsers are for; none where the folder is absent.
    static let all: [Feed] = {
        guard let index = try? String(contentsOf: feeds.appendingPathComponent("INDEX.tsv"), encoding: .utf8) else {
            return []
        }
        return index.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.components(separatedBy: "\t")
            let feed = Feed(
                path: String(fields[0].dropFirst("feeds/".count)), root: fields[4], records: Int(fields[6]) ?? 0,
                isWellFormed: fields[7].hasPrefix("yes"))
            let isOurs = ["rss", "RDF", "feed", "urlset", "sitemapindex"].contains(feed.root) || fields[1] == "ecb"
            return isOurs || feed.path.hasPrefix("broken/") ? feed : nil
        }
    }()

    private func sync(_ file: URL, parser: String, count: String) async throws -> (report: RunReport, rows: Int) {
        try await withTemporaryFolder { (folder) async throws in
            let registry = ParserRegistry([
                .class(SyndicationParser.self), .class(SitemapParser.self), .class(EurofxrefParser.self),
            ])
            let config = try folder.write(
                "[[sources.s.requests]]\nurl = \"\(file.absoluteString)\"\nparser = \"\(parser)\"\n", to: "sources.toml"
            )
            let service = try SyncService(
                configuration: TributaryConfiguration(file: config, parsers: registry, environment: [:]),
                parsers: registry,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let report = try #require(try await service.sync().first)
            let rows = try await #require(service.reader).read { try Int.fetchOne($0, sql: count) ?? 0 }
            // The same data again changes nothing.
            let again = try SyncService(
                configuration: TributaryConfiguration(file: config, parsers: registry, environment: [:]),
                parsers: registry,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let second = try #require(try await again.sync(mode: .full).first)
            #expect(second.counts.inserted + second.counts.updated + second.counts.deleted == 0)
            return (report, rows)
        }
    }

    private func parser(for root: String) -> (name: String, count: String) {
        switch root {
        case "urlset", "sitemapindex": ("SitemapParser", "SELECT count(*) FROM sitemap_url")
        case "Envelope": ("EurofxrefParser", "SELECT count(*) FROM rate")
        default: ("SyndicationParser", "SELECT count(*) FROM entry")
        }
    }

    @Test(.enabled(if: !all.isEmpty, "\(feeds.path) has no feeds"), arguments: all)
    func realFeeds(feed: Feed) async throws {
        let (name, count) = parser(for: feed.root)
        let file = Self.feeds.appendingPathComponent(feed.path)
        let isHistory = feed.path.contains("hist-90d")
        let (report, rows) = try await sync(
            file, parser: name, count: isHistory ? "SELECT count(DISTINCT day) FROM rate" : count)
        // The index was made with another iconv, which refuses some bytes of this feed that glibc's knows.
        if feed.isWellFormed || feed.path == "broken/upsaid-big5-bad-bytes.xml" {
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            // A feed without items is itself the record.
            if feed.isWellFormed, feed.root != "rss" || feed.records > 1 { #expect(rows == feed.records) }
        } else {
            #expect(report.outcome == .discarded)
            #expect(report.error?.contains("line ") == true, "\(report.error ?? "")")
        }
    }

    @Test(arguments: [
        ("river-levels.atom", "SyndicationParser", "SELECT count(*) FROM entry", 2),
        ("podcast.rss", "SyndicationParser", "SELECT count(*) FROM enclosure", 2),
        ("sitemap.xml", "SitemapParser", "SELECT count(*) FROM sitemap_url", 3),
        ("eurofxref-daily.xml", "EurofxrefParser", "SELECT count(*) FROM rate WHERE day = '2026-11-20'", 4),
    ])
    func sampleFeeds(name: String, parser: String, count: String, expected: Int) async throws {
        let file = Self.root.appendingPathComponent("Scripts/sample-feeds/\(name)")
        let (report, rows) = try await sync(file, parser: parser, count: count)
        #expect(report.error == nil && rows == expected)
    }

    @Test func whatAnEntrySays() async throws {
        let file = Self.root.appendingPathComponent("Scripts/sample-feeds/podcast.rss")
        let (_, rows) = try await sync(
            file, parser: "SyndicationParser",
            count: """
                SELECT count(*) FROM entry JOIN enclosure ON enclosure.entry = entry.id
                WHERE entry.id = 'confluence-2' AND title = 'Episode 2: Café by the weir' AND author = 'Ines'
                AND published = '2026-11-20T07:00:00Z' AND summary = 'With <b>notes</b> & links.' AND length = 31415926
                """)
        #expect(rows == 1)
    }

    /// Two entries of one id that say different things are two rows; the same said twice is one.
    @Test func entriesThatShareAnID() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let item = { (title: String) in "<item><guid>same</guid><title>\(title)</title></item>" }
            let path = try folder.write(
                "<rss><channel>\(item("a"))\(item("b"))\(item("b"))</channel></rss>", to: "f.rss")
            let (_, rows) = try await sync(
                URL(fileURLWithPath: path), parser: "SyndicationParser", count: "SELECT count(*) FROM entry")
            #expect(rows == 2)
        }
    }
}
