import Foundation
import TestStores
import TestSupport
import Testing

/// Who may see the page, and change something on it.
struct PageGuardTests {
    @Test func whatChangesSomethingComesFromThePageItself() async throws {
        try await PageFixture.with { (fixture) async throws in
            let runs = { try fixture.store.rows("SELECT count(*) FROM tributary_run WHERE source = 'news'") }
            let page = fixture.page
            for origin in ["http://evil.example", "null", "http://127.0.0.1:\(page.port + 1)", "https://127.0.0.1", ""]
            {
                #expect(try await page.post("/sources/news/refresh", origin: origin).status == 403, "\(origin)")
                #expect(try await page.post("/api/refresh?source=news", origin: origin).status == 403, "\(origin)")
            }
            #expect(try await page.send("POST", "/sources/news/refresh", ["Content-Length": "0"]).status == 403)
            // A name of somebody else's that leads here.
            let rebound = ["Host": "evil.example:\(page.port)", "Origin": "http://evil.example:\(page.port)"]
            #expect(try await page.send("POST", "/sources/news/refresh", rebound).status == 421)
            #expect(try await page.get("/", ["Host": "evil.example"]).status == 421)
            #expect(try await page.get("/", ["Host": "localhost:\(page.port)"]).status == 200)
            #expect(try await page.get("/", ["Host": "[::1]:\(page.port)"]).status == 200)
            let large = try await page.post("/sources/news/refresh", ["Content-Length": "5000"])
            #expect(large.status == 400)
            for host in ["[::1].evil.com", "127.0.0.1:evil.com", "127.0.0.1:80@evil.com", "127.0.0.1.evil.com", ""] {
                #expect(try await page.get("/", ["Host": host]).status != 200, "\(host)")
            }
            // Of several, whoever stands in front of the daemon may have read another one (RFC 9112, section 3.2).
            for second in ["evil.example", page.authority] {
                #expect(try await page.get("/", ["host": second]).status == 400, "\(second)")
            }
            #expect(try await page.get("/live?page=%2Fsources%2Fnosuch").status == 404)
            #expect(try await page.send("HEAD", "/", [:]).status == 200)
            #expect(try runs() == ["1"])
        }
    }

    @Test func everythingNeedsTheTokenWhereThereIsOne() async throws {
        try await PageFixture.with(daemon: "token = \"0123456789abcdef-secret\"") { (fixture) async throws in
            let bare = try await fixture.page.get("/")
            #expect(bare.status == 401 && bare.headers["www-authenticate"]?.hasPrefix("Basic") == true)
            for path in ["/", "/api/status", "/sources/news", "/assets/page.css", "/live?page=%2F"] {
                #expect(try await fixture.page.get(path, ["Authorization": "Bearer 0123456789abcdef"]).status == 401)
            }
            let pair = Data("anybody:0123456789abcdef-secret".utf8).base64EncodedString()
            let page = try await fixture.page.get("/", ["Authorization": "Basic \(pair)", "Host": "tributary.example"])
            #expect(page.status == 200 && !page.body.contains("0123456789abcdef"))
            let bearer = ["Authorization": "Bearer 0123456789abcdef-secret"]
            #expect(try await fixture.page.get("/api/status", bearer).status == 200)
            #expect(try await fixture.page.post("/api/refresh?source=news").status == 401)
            #expect(try await fixture.page.post("/api/refresh?source=news", bearer).status == 200)
            // A program is no page. A browser sends the password unasked, and a page's script names its page.
            let program = bearer.merging(["Content-Length": "0"]) { $1 }
            #expect(try await fixture.page.send("POST", "/api/refresh?source=news", program).status == 200)
            let browser = ["Authorization": "Basic \(pair)", "Content-Length": "0"]
            #expect(try await fixture.page.send("POST", "/api/refresh?source=news", browser).status == 403)
            let script = try await fixture.page.post("/api/refresh?source=news", origin: "http://evil.example", bearer)
            #expect(script.status == 403 && script.headers["content-type"] == "application/problem+json")
        }
    }

    @Test func theTokenForReadingChangesNothing() async throws {
        let tokens = "token = \"0123456789abcdef-secret\"\nread_token = \"fedcba9876543210-secret\""
        try await PageFixture.with(daemon: tokens) { (fixture) async throws in
            let reader = ["Authorization": "Bearer fedcba9876543210-secret"]
            for path in ["/", "/api/status", "/sources/news", "/tables/news.csv", "/metrics"] {
                #expect(try await fixture.page.get(path, reader).status == 200, "\(path)")
                #expect(try await fixture.page.get(path).status == 401, "\(path)")
            }
            for path in [
                "/api/refresh?source=news", "/sources/news/refresh", "/sources/news/pause", "/api/accept?source=news",
            ] {
                let refused = try await fixture.page.post(path, reader)
                #expect(refused.status == 403 && refused.body.contains("read_token"), "\(path)")
            }
            // No button is shown that would be refused.
            fixture.feeds.set("rates", PageFixture.items(1...1))
            _ = try await fixture.page.post(
                "/sources/rates/refresh", ["Authorization": "Bearer 0123456789abcdef-secret"])
            let outcomes = "SELECT id FROM tributary_run WHERE source = 'rates' AND outcome = 'blocked'"
            try await fixture.wait("it is blocked") { try !fixture.store.rows(outcomes).isEmpty }
            let run = try fixture.store.rows(outcomes)[0]
            for path in [
                "/", "/sources/news", "/sources/rates", "/sources/rates/runs/\(run)", "/sources/news/undo", "/daemon",
            ] {
                let page = try await fixture.page.get(path, reader).body
                #expect(!page.contains("method=\"post\"") && !page.contains("href=\"/try\""), "\(path): \(page)")
            }
            let source = try await fixture.page.get("/sources/rates", reader).body
            #expect(source.contains("id=\"review-run\"") && !source.contains("/purge"))
            #expect(try await fixture.page.get("/try", reader).status == 403)
            for try await part in fixture.page.events("/live?page=%2Fsources%2Frates", reader) {
                #expect(!part.contains("method=\\\"post"))
                if part.contains("\"actions\"") { break }
            }
            let pair = Data("anybody:fedcba9876543210-secret".utf8).base64EncodedString()
            #expect(try await fixture.page.get("/", ["Authorization": "Basic \(pair)"]).status == 200)
            #expect(
                try await fixture.page.post("/sources/news/refresh", ["Authorization": "Basic \(pair)"]).status == 403)
            let writer = ["Authorization": "Bearer 0123456789abcdef-secret"]
            #expect(try await fixture.page.post("/api/refresh?source=news", writer).status == 200)
        }
    }

    @Test func browsersAreToldToRunNothingElse() async throws {
        try await PageFixture.with { (fixture) async throws in
            for path in ["/", "/nosuch", "/assets/page.js", "/api/status?source=nosuch"] {
                let headers = try await fixture.page.get(path).headers
                let policy = headers["content-security-policy"] ?? ""
                #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"), "\(path)")
                #expect(policy.contains("require-trusted-types-for 'script'; trusted-types tributary"))
                #expect(!policy.contains("unsafe") && headers["set-cookie"] == nil)
                #expect(headers["x-content-type-options"] == "nosniff")
            }
            let page = try await fixture.page.get("/sources/news").body
            // Without inline script or style, and from nowhere else.
            for text in ["<script>", "style=", "onclick", "http://", "https://", "//cdn"] {
                let own = page.replacing(fixture.server.url, with: "")
                #expect(!own.contains(text), "\(text)")
            }
        }
    }

    @Test func hostileTextsAreShownAsTexts() async throws {
        let attack = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>"
        let escaped = attack.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        let name = "x/../" + attack
        let key = name.replacing("\"", with: "\\\"")
        let more = PageFixture.declaration(key, url: "http://127.0.0.1:1/").replacing(
            "table = \"\(key)\"", with: "table = \"t\"")
        try await PageFixture.with(more: more) { (fixture) async throws in
            fixture.feeds.set("news", PageFixture.items(1...4, title: escaped))
            _ = try await fixture.page.post("/sources/news/refresh")
            try await fixture.wait("the run") {
                try fixture.store.rows("SELECT count(*) FROM tributary_run WHERE source = 'news'") == ["2"]
            }
            #expect(try fixture.store.rows("SELECT DISTINCT title FROM news") == [attack])
            fixture.feeds.set("rates", "<items><\(escaped)", status: 200)
            _ = try await fixture.page.post("/sources/rates/refresh")
            try await fixture.wait("it fails") {
                try fixture.store.rows("SELECT failures FROM tributary_source WHERE source = 'rates'") == ["1"]
            }
            var characters = CharacterSet.alphanumerics
            characters.insert(".")
            let encoded = name.addingPercentEncoding(withAllowedCharacters: characters) ?? ""
            for path in [
                "/", "/?q=\(encoded)", "/sources/\(encoded)", "/sources/rates", "/sources/news", "/sources/news/runs/4",
                "/sources/news/runs/3", "/live?page=%2F", "/sources/\(encoded)?done=\(encoded)",
            ] {
                var body = ""
                if path.hasPrefix("/live") {
                    for try await part in fixture.page.events(path) {
                        body += part
                        if body.contains("\"list\"") { break }
                    }
                } else {
                    let answer = try await fixture.page.get(path)
                    body = answer.body
                    #expect(answer.status == 200 || path.contains("/runs/"), "\(path)")
                }
                #expect(!body.contains("<script>alert") && !body.contains("<img src=x"), "\(path)")
            }
            let source = try await fixture.page.get("/sources/\(encoded)").body
            #expect(source.contains("&lt;script&gt;alert(1)"))
        }
    }

    @Test func anAddressThatIsTakenIsNamed() async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                try folder.write(
                    "[store]\npath = \"s.sqlite\"\n[daemon]\nlisten = \"127.0.0.1:\(server.port)\"\n"
                        + PageFixture.declaration("s", url: "\(server.url)/s"), to: "sources.toml")
                let output = try await BuiltProgram("tributary", config: folder.file("sources.toml")).run("run")
                #expect(output.status != 0)
                #expect(
                    output.standardError.contains(
                        "[daemon] listen: cannot listen at 127.0.0.1:\(server.port): Address already in use"))
            }
        }
    }

    @Test(arguments: [
        ("listen = \"8090\"", "'8090' is not an IP address and a port"),
        ("listen = \"[::1:8090\"", "'[::1:8090' is not an IP address"),
        ("listen = \"[::1]x9:8090\"", "'[::1]x9:8090' is not an IP address"),
        ("listen = \"[127.0.0.1]:8090\"", "'[127.0.0.1]:8090' is not an IP address"),
        ("listen = \"[::1%lo]:8090\"", "'[::1%lo]:8090' is not an IP address"),
        ("listen = \"127.0.0.1 x:8090\"", "'127.0.0.1 x:8090' is not an IP address"),
        ("listen = \"0177.1:8090\"", "'0177.1:8090' is not an IP address"),
        ("listen = \"127.0.0.1:+80\"", "'127.0.0.1:+80' is not an IP address"),
        ("listen = \"example.com:80\"", "'example.com:80' is not an IP address"),
        ("listen = \"0.0.0.0:8090\"", "declare a 'token'"),
        ("listen = \"[::]:8090\"", "declare a 'token'"),
        ("listen = \"127.0.0.1:8090\"\ntoken = \"short\"", "at least 16 characters"),
        (
            "listen = \"127.0.0.1:8090\"\ntoken = \"0123456789abcdef\"\nread_token = \"0123456789abcdef\"",
            "is the same as 'token'"
        ),
        ("listen = \"127.0.0.1:8090\"\nread_token = \"0123456789abcdef\"", "requires 'token'"),
        ("token = \"0123456789abcdef\"", "requires 'listen'"),
        ("listen = \"127.0.0.1:99999\"", "is not an IP address and a port"),
    ])
    func mistakesAreNamed(_ declaration: String, _ message: String) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write(
                "[store]\npath = \"s.sqlite\"\n[daemon]\n\(declaration)\n"
                    + PageFixture.declaration("s", url: "http://127.0.0.1:1/s"), to: "sources.toml")
            let output = try await BuiltProgram("tributary", config: folder.file("sources.toml")).run("check")
            #expect(output.status != 0)
            #expect(output.standardError.contains(message), "\(output.standardError)")
        }
    }
}
