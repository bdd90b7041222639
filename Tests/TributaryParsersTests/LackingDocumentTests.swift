import TestStores
import TestSupport
import Testing
import Tributary
import TributaryParsers

/// The built-in parsers on documents that lack parts: no value of another record takes the place of one that is missing.
@Suite struct LackingDocumentTests {
    /// Reads a document, and returns its report and the rows of a query.
    private func read(
        _ document: String, _ parser: FeedParser.Type, _ sql: String
    ) async throws -> (report: RunReport, rows: [String]) {
        var result: (RunReport, [String])?
        try await SyndicationFixture.with { fixture in
            fixture.server.document("/feed", document)
            let report = try await fixture.sync(parser: parser)
            result = (report, try fixture.rows(sql))
        }
        return try #require(result)
    }

    // MARK: - Rates

    private static let rates = "SELECT day, currency, value FROM rate ORDER BY day, currency"

    private func cube(_ content: String) -> String {
        "<Envelope><Cube><Cube time='2025-05-16'><Cube currency='USD' rate='1.25'/>\(content)</Cube></Cube></Envelope>"
    }

    @Test(.onEachStore) func completeRates() async throws {
        let document = """
            <Envelope><Cube><Cube time='2025-05-16'><Cube currency='USD' rate='1.25'/><Cube currency='JPY' rate='160.5'/></Cube>
            <Cube time='2025-05-15'><Cube currency='USD' rate='1.5'/></Cube><Cube/></Cube></Envelope>
            """
        let (report, rows) = try await read(document, EurofxrefParser.self, Self.rates)
        #expect(report.error == nil)
        #expect(rows == ["2025-05-15|USD|1.5", "2025-05-16|JPY|160.5", "2025-05-16|USD|1.25"])
    }

    @Test(arguments: [
        ("<Cube currency='JPY'/>", "value"), ("<Cube currency='JPY' rate=''/>", "value"),
        ("<Cube currency='JPY' rate='N/A'/>", "rate"),
        ("</Cube></Cube><Cube><Cube currency='CHF' rate='0.9'/></Cube><Cube><Cube>", "day"),
        ("</Cube><Cube currency='CHF' rate='0.9'/><Cube>", "day"),
    ])
    func aRateWithoutAPartDiscardsTheRun(content: String, missing: String) async throws {
        let (report, rows) = try await read(cube(content), EurofxrefParser.self, Self.rates)
        #expect(report.outcome == .discarded && rows == [])
        #expect(report.error?.contains("'\(missing)'") == true, "\(report.error ?? "no error")")
    }

    @Test(arguments: [
        "<Envelope/>", "<Envelope><Cube/></Envelope>",
        "<Envelope><Cube time='2025-05-16'><Cube rate='1'/></Cube></Envelope>",
    ])
    func documentsWithoutRates(document: String) async throws {
        let (report, rows) = try await read(document, EurofxrefParser.self, Self.rates)
        #expect(report.outcome == .committed && rows == [], "\(report.error ?? "")")
    }

    // MARK: - Sitemaps

    private static let addresses = "SELECT loc, kind, lastmod, changefreq, priority FROM sitemap_url ORDER BY loc"

    private func sitemap(_ content: String) -> String {
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>https://a</loc><lastmod>2026-01-02</lastmod>"
            + "<changefreq>daily</changefreq><priority>0.5</priority></url>\(content)</urlset>"
    }

    @Test(
        .onEachStore,
        arguments: [
            "<url><loc>https://b</loc></url>", "<url><loc>https://b</loc><lastmod/><priority/></url>",
            "<loc>https://c</loc><url><loc>https://b</loc><lastmod>someday</lastmod></url><priority>1</priority>",
            "<url><loc>https://b</loc><i:lastmod xmlns:i='urn:i'>2026-01-03</i:lastmod></url>",
        ])
    func anAddressHasNoValueOfAnother(content: String) async throws {
        let (report, rows) = try await read(sitemap(content), SitemapParser.self, Self.addresses)
        #expect(report.error == nil)
        #expect(rows == ["https://a|url|2026-01-02T00:00:00Z|daily|0.5", "https://b|url|NULL|NULL|NULL"])
    }

    @Test(arguments: ["<url/>", "<url><lastmod>2026-01-02</lastmod></url>", "<url><priority>high</priority></url>"])
    func anAddressThatIsNoneDiscardsTheRun(content: String) async throws {
        let (report, rows) = try await read(sitemap(content), SitemapParser.self, Self.addresses)
        #expect(report.outcome == .discarded && rows == [], "\(report.error ?? "")")
    }

    // MARK: - Entries

    private static let whole = """
        <item><guid>a</guid><title>t</title><link>https://l</link><description>d</description><author>x</author>
        <category>c</category><pubDate>Sat, 21 Nov 2026 08:30:00 GMT</pubDate>
        <enclosure url='https://e' length='5' type='audio/mpeg'/></item>
        """

    @Test(
        .onEachStore,
        arguments: [
            ("<item><guid>b</guid></item>", "b|NULL|NULL|NULL|NULL", 0),
            ("<item><title>b</title></item>", "b|b|NULL|NULL|NULL", 0),
            (
                "<item><guid>b</guid><pubDate>someday</pubDate><enclosure length='7'/></item>", "b|NULL|NULL|NULL|NULL",
                0
            ),
            ("<item><guid>b</guid><enclosure url='https://f'/></item>", "b|NULL|NULL|NULL|NULL", 1),
        ])
    func anEntryHasNoValueOfAnother(item: String, expected: String, enclosures: Int) async throws {
        for document in [Self.whole + item, item] {
            let (report, rows) = try await read(
                SyndicationFixture.rss(document), SyndicationParser.self,
                "SELECT id, title, link, author, published FROM entry WHERE id = 'b'")
            #expect(report.error == nil && rows == [expected])
            let (_, others) = try await read(
                SyndicationFixture.rss(document), SyndicationParser.self,
                "SELECT count(*), max(length), max(type) FROM enclosure WHERE entry = 'b'")
            #expect(others == ["\(enclosures)|NULL|NULL"])
        }
    }
}
