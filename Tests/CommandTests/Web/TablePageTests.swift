import Foundation
import TestStores
import TestSupport
import Testing

/// The rows of tables that sources write, over the running daemon.
@Suite(.serialized) struct TablePageTests {
    private static var pattern: Regex<(Substring, Substring)> { /<a href="(\/tables\/news\/row\?key=[^"]+)">/ }

    /// Adds rows to the table of a source, and a column that its mapping does not know.
    private static func fill(_ fixture: PageFixture, _ count: Int) throws {
        try fixture.store.execute("ALTER TABLE news ADD COLUMN price double precision")
        try fixture.store.execute(
            """
            INSERT INTO news (id, title, price)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            SELECT 'r' || i, 'title ' || i, CASE WHEN i % 3 = 0 THEN NULL ELSE i % 7 END FROM n
            """)
    }

    @Test(.onEachStore) func rowsAreSortedFilteredAndPagedByKey() async throws {
        try await PageFixture.with { (fixture) async throws in
            try Self.fill(fixture, 900)
            struct Row: Decodable {
                var id: String
                var price: Double?
            }
            let lines = try await fixture.page.get("/tables/news.ndjson?sort=price&order=desc").body.split(
                separator: "\n")
            let rows = try lines.map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
            #expect(rows.count == 904 && Set(rows.map(\.id)).count == 904)
            let prices = rows.compactMap(\.price)
            #expect(
                prices.count == 600 && prices == prices.sorted(by: >) && rows.prefix(600).allSatisfy { $0.price != nil }
            )

            for (address, count) in [
                ("/tables/news", "<p>904 rows</p>"), ("/tables/news?limit=10", "<p>904 rows</p>"),
                ("/tables/news?column=price&is=null", "<p>304 rows</p>"),
                ("/tables/news?column=id&is=eq&value=r1", "<p>1 row</p>"),
                ("/tables", "data-label=\"Rows\">904</span>"),
            ] {
                let page = try await fixture.page.get(address).body
                #expect(page.contains(count), "\(address): \(page)")
            }

            // Page by page, as a reader follows the links.
            var next: String? = "/tables/news?sort=price&order=desc"
            var links: [String] = []
            while let address = next {
                let page = try await fixture.page.get(address)
                #expect(page.status == 200, "\(address)")
                links += page.body.matches(of: Self.pattern).map { String($0.1) }
                next = page.body.firstMatch(of: /<a rel="next" href="([^"]+)">/).map {
                    String($0.1).replacing("&amp;", with: "&")
                }
                try #require(links.count <= 904, "the pages do not end")
            }
            #expect(links.count == 904 && Set(links).count == 904)

            for (query, count) in [
                ("column=price&is=eq&value=3", 86), ("column=price&is=gt&value=5&column=id&is=contains&value=R1", 19),
                ("column=price&is=null", 304), ("column=price&is=lt&value=1", 86), ("column=&is=eq&value=", 904),
                ("limit=300", 300),
            ] {
                let lines = try await fixture.page.get("/tables/news.ndjson?\(query)").body.split(separator: "\n")
                let counted = try fixture.store.rows("SELECT count(*) FROM news WHERE \(Self.condition(query))")
                #expect(lines.count == (query == "limit=300" ? count : Int(counted[0])), "\(query)")
            }
        }
    }

    private static func condition(_ query: String) -> String {
        switch query {
        case "column=price&is=eq&value=3": "price = 3"
        case "column=price&is=gt&value=5&column=id&is=contains&value=R1": "price > 5 AND id LIKE '%r1%'"
        case "column=price&is=null": "price IS NULL"
        case "column=price&is=lt&value=1": "price < 1"
        default: "1 = 1"
        }
    }

    @Test(.onEachStore) func fewValuesAreCountedAndLeadToTheirRows() async throws {
        try await PageFixture.with { (fixture) async throws in
            try Self.fill(fixture, 90)
            let plain = try await fixture.page.get("/tables/news").body
            #expect(plain.contains("href=\"/tables/news?facet=price\"") && !plain.contains("?facet=id"), "\(plain)")
            let page = try await fixture.page.get("/tables/news?facet=price&column=id&is=contains&value=r").body
            let counted = try fixture.store.rows("SELECT count(*) FROM news WHERE price = 3")[0]
            let link = try #require(
                page.firstMatch(of: /<li><a href="([^"]+)"><bdi>3\.0<\/bdi><\/a> <b>(\d+)<\/b>/), "\(page)")
            #expect(link.2 == counted)
            #expect(page.contains("<small>NULL</small></a> <b>30</b>"), "\(page)")
            let rows = try await fixture.page.get(String(link.1).replacing("&amp;", with: "&")).body
            #expect(rows.matches(of: Self.pattern).count == Int(counted))
            // The link to the next rows keeps the question.
            #expect(rows.contains("facet=price") && rows.contains("value=r"))
            #expect(try await fixture.page.get("/tables/news?facet=nosuch").status == 400)
            for comparison in ["lt", "gt"] {
                let query = "/tables/news?column=price&is=\(comparison)&value=ab%3Cc"
                let wrong = try await fixture.page.get(query)
                #expect(wrong.status == 400 && wrong.body.contains("ab&lt;c&#39; is not a number"), "\(wrong.body)")
            }
            #expect(try await fixture.page.get("/tables/news?column=title&is=gt&value=abc").status == 200)
            #expect(try await fixture.page.get("/api/tables/news/rows?facet=price").status == 400)
        }
    }

    /// SQLite has no type for a column of decimals.
    @Test(.onEachStore) func decimalsAreComparedWithNumbers() async throws {
        try await withStubServer { (shop) async throws in
            shop.route("/prices") { _ in
                StubServer.response(200, "<prices><price id='1'>9.90</price><price id='2'>12.5</price></prices>", [:])
            }
            let more = """
                [sources.prices]
                [[sources.prices.requests]]
                url = "\(shop.url)/prices"
                tables = [{ table = "price", element = "price", key = ["id"], sync = "mirror", \
                columns = { id = "@id", price = { path = ".", type = "decimal" } } }]

                """
            try await PageFixture.with(more: more) { (fixture) async throws in
                try await fixture.wait("the prices") {
                    try fixture.store.rows("SELECT count(*) FROM price") == ["2"]
                }
                for path in ["/tables/price", "/tables/price.csv", "/api/tables/price/rows"] {
                    for comparison in ["lt", "gt"] {
                        let wrong = try await fixture.page.get("\(path)?column=price&is=\(comparison)&value=abc")
                        #expect(wrong.status == 400 && wrong.body.contains("is not a number"), "\(path): \(wrong.body)")
                    }
                    let found = try await fixture.page.get("\(path)?column=price&is=gt&value=10").body
                    #expect(found.contains("12.5") && !found.contains("9.9"), "\(path): \(found)")
                }
                let page = try await fixture.page.get("/tables/price").body
                #expect(
                    page.contains("<span role=\"cell\" class=\"number\" data-label=\"price\"><bdi>12.5</bdi>"),
                    "\(page)")
            }
        }
    }

    @Test(.onEachStore) func foreignKeysAreFollowedBothWays() async throws {
        try await PageFixture.with { (fixture) async throws in
            try fixture.store.execute("ALTER TABLE rates ADD COLUMN \"of <news>\" text REFERENCES news (id)")
            try fixture.store.execute("INSERT INTO news (id, title) VALUES ('<&\"''>', 'odd')")
            try fixture.store.execute("UPDATE rates SET \"of <news>\" = '<&\"''>' WHERE id = '2'")
            let rates = try await fixture.page.get("/tables/rates").body
            let parent = "/tables/news?column=id&amp;is=eq&amp;value=%3C%26%22%27%3E"
            #expect(rates.contains("<a href=\"\(parent)\"><bdi>&lt;&amp;&quot;&#39;&gt;</bdi></a>"), "\(rates)")
            let news = try await fixture.page.get(parent.replacing("&amp;", with: "&")).body
            let row = try #require(news.firstMatch(of: Self.pattern)?.1)
            let page = try await fixture.page.get(String(row)).body
            let children = try #require(
                page.firstMatch(of: /<a href="([^"]+)">rates by of &lt;news&gt;<\/a>/)?.1, "\(page)")
            let found = try await fixture.page.get(String(children).replacing("&amp;", with: "&")).body
            #expect(found.matches(of: /<a href="\/tables\/rates\/row\?key=([^"]+)"/).map { String($0.1) } == ["t2"])
        }
    }

    @Test(.onEachStore) func rowsAreWrittenForProgramsBySuffix() async throws {
        try await PageFixture.with { (fixture) async throws in
            try fixture.store.execute("DELETE FROM news WHERE id <> '1'")
            try fixture.store.execute("ALTER TABLE news ADD COLUMN \"a,\"\"b\" text")
            try fixture.store.execute("INSERT INTO news VALUES ('2', 'say \"x\", \\\n€', NULL)")
            let csv = try await fixture.page.get("/tables/news.csv?sort=id")
            #expect(csv.headers["content-type"] == "text/csv; charset=utf-8; header=present")
            #expect(csv.body == "id,title,\"a,\"\"b\"\r\n1,t,\r\n2,\"say \"\"x\"\", \\\n€\",\r\n")
            let json = try await fixture.page.get("/tables/news.json?column=id&is=eq&value=2")
            #expect(json.body == "[\n{\"id\":\"2\",\"title\":\"say \\\"x\\\", \\\\\\n€\",\"a,\\\"b\":null}\n]\n")
            let none = try await fixture.page.get("/tables/news.json?column=id&is=eq&value=nosuch")
            #expect(none.body == "[\n]\n" && none.headers["content-type"] == "application/json")
        }
    }

    @Test(.onEachStore) func aRowSaysWhoWroteItAndWhatItWas() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("news", PageFixture.items(1...4, title: "new"))
            _ = try await fixture.page.post("/sources/news/refresh")
            try await fixture.wait("the second run") {
                try fixture.store.rows("SELECT count(*) FROM tributary_run WHERE source = 'news'") == ["2"]
            }
            let runs = try fixture.store.rows("SELECT id FROM tributary_run WHERE source = 'news' ORDER BY id")
            let table = try await fixture.page.get("/tables/news?column=id&is=eq&value=3")
            let link = try #require(table.body.firstMatch(of: Self.pattern)?.1)
            let row = try await fixture.page.get(String(link)).body
            for text in [
                "<bdi>new</bdi>", "<span class=\"badge update\">update</span>",
                "<span class=\"badge insert\">insert</span>",
                "href=\"/sources/news/runs/\(runs[0])\"", "href=\"/sources/news/runs/\(runs[1])\"", "<del>t</del>",
                "<ins>new</ins>", "news, run \(runs[1])",
            ] { #expect(row.contains(text), "\(text)") }
            #expect(table.body.contains("\"><bdi>3</bdi></a></span>"), "a row is named by its key: \(table.body)")
            // The last values of a row that is gone.
            fixture.feeds.set("news", PageFixture.items([1, 2, 4], title: "new"))
            _ = try await fixture.page.post("/sources/news/refresh")
            try await fixture.wait("it is deleted") { try fixture.store.rows("SELECT count(*) FROM news") == ["3"] }
            let gone = try await fixture.page.get(String(link)).body
            #expect(gone.contains("The row is deleted. Its last values:") && gone.contains("<bdi>new</bdi>"), "\(gone)")
            #expect(!gone.contains("Written by") && gone.contains("badge delete"))
            #expect(try await fixture.page.get("/tables/news/row?key=tnosuch").status == 404)
            for key in ["", "x", "t1,t2", "t1;t2"] {
                #expect(try await fixture.page.get("/tables/news/row?key=\(key)").status == 400, "\(key)")
            }
        }
    }

    @Test(.onEachStore) func nothingButTheTablesOfSourcesIsShown() async throws {
        try await PageFixture.with { (fixture) async throws in
            try fixture.store.execute("CREATE TABLE secret (word text)")
            let list = try await fixture.page.get("/tables").body
            #expect(list.contains("href=\"/tables/news\"") && list.contains("href=\"/sources/rates\""))
            #expect(!list.contains("secret") && !list.contains("tributary_"))
            for name in [
                "secret", "secret.csv", "tributary_run", "tributary_run.json", "tributary_history_news", "nosuch",
                "news%22%20--", "main.news", "news/nosuch", "..%2Fnews",
            ] {
                let answer = try await fixture.page.get("/tables/\(name)")
                #expect(answer.status == 404, "\(name)")
            }
        }
    }

    @Test(.onEachStore) func hostileNamesAndValuesAreNames() async throws {
        let attack = "\"><script>alert(1)</script>'; DROP TABLE news; --"
        try await PageFixture.with { (fixture) async throws in
            let quoted = attack.replacing("\"", with: "\"\"")
            try fixture.store.execute("ALTER TABLE news ADD COLUMN \"\(quoted)\" text")
            let value = attack.replacing("'", with: "''")
            try fixture.store.execute("UPDATE news SET \"\(quoted)\" = '\(value)' WHERE id = '2'")
            let encoded = try #require(attack.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            for path in [
                "/tables/news", "/tables/news?sort=\(encoded)&order=desc",
                "/tables/news?column=\(encoded)&is=eq&value=\(encoded)",
                "/tables/news?column=title&is=contains&value=\(encoded)", "/tables/\(encoded)",
                "/tables/news?column=x\(encoded)&is=eq", "/tables/news?sort=x\(encoded)", "/tables/news?\(encoded)=1",
                "/tables/news?after=\(encoded)", "/tables/news/row?key=t2", "/tables/news/row?key=t\(encoded)",
                "/tables/news?column=id&is=\(encoded)", "/tables/news?order=\(encoded)&sort=id",
            ] {
                let answer = try await fixture.page.get(path)
                #expect(!answer.body.contains("<script>alert"), "\(path)")
                #expect([200, 400, 404].contains(answer.status), "\(path): \(answer.status)")
                #expect(answer.headers["content-security-policy"]?.contains("default-src 'none'") == true)
            }
            let found = try await fixture.page.get("/tables/news.ndjson?column=\(encoded)&is=eq&value=\(encoded)").body
            #expect(found.split(separator: "\n").count == 1 && found.contains("\"id\":\"2\""))
            let zero = try await fixture.page.get("/tables/news?column=id&is=eq&value=%00")
            #expect([200, 400].contains(zero.status))
            #expect(try fixture.store.rows("SELECT count(*) FROM news") == ["4"])
        }
    }

    @Test func rowsCanBeSwitchedOffAndNeedTheToken() async throws {
        try await PageFixture.with(daemon: "rows = false") { (fixture) async throws in
            for path in ["/tables", "/tables/news", "/tables/news.csv", "/tables/news/row?key=t1"] {
                let answer = try await fixture.page.get(path)
                #expect(answer.status == 404 && answer.body.contains("rows = false"), "\(path)")
            }
            #expect(try await !fixture.page.get("/").body.contains("/tables"))
        }
        try await PageFixture.with(daemon: "token = \"0123456789abcdef-secret\"") { (fixture) async throws in
            for path in ["/tables", "/tables/news", "/tables/news.csv"] {
                #expect(try await fixture.page.get(path).status == 401, "\(path)")
                let bearer = ["Authorization": "Bearer 0123456789abcdef-secret"]
                #expect(try await fixture.page.get(path, bearer).status == 200, "\(path)")
            }
        }
    }
}
