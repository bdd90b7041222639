import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

/// A document's tables and rows before its source is declared, over the running daemon.
@Suite(.serialized) struct TryPageTests {
    private static let shop = """
        <?xml version="1.0" encoding="ISO-8859-1"?>
        <shop><product sku="a1"><name>T\u{E9}</name><price>16.95</price></product>\
        <product sku="a2"><name>&lt;b&gt;Jam&lt;/b&gt;</name><price>3.50</price></product></shop>
        """

    /// Gives the body in the encoding that it names, as a server would.
    private static func withShop(
        daemon: String = "", defaults: String = "allow_private = true", _ body: (PageFixture) async throws -> Void
    ) async throws {
        try await PageFixture.with(daemon: daemon, defaults: defaults) { (fixture) async throws in
            fixture.server.route("/shop") { _ in
                StubServer.response(200, shop, ["Content-Type": "text/xml; charset=UTF-8"])
            }
            try await body(fixture)
            // Other tests have trials of their own meanwhile.
            try await fixture.wait("its folder is gone") { try Self.leftovers().isEmpty }
            #expect(try fixture.store.rows("SELECT count(*) FROM tributary_run WHERE source LIKE '%shop%'") == ["0"])
        }
    }

    /// The folders of trials that are still there.
    private static func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path).filter {
            $0.hasPrefix("tributary-try-")
        }
    }

    private static func toml(_ page: String) throws -> String {
        let match = try #require(page.firstMatch(of: /(?s)<textarea id="toml"[^>]*>\n(.*?)<\/textarea>/))
        return String(match.1).replacing("&quot;", with: "\"").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
            .replacing("&amp;", with: "&").replacing("&#39;", with: "'")
    }

    @Test func anAddressBecomesRowsAndADeclarationThatCanBeChanged() async throws {
        try await Self.withShop { (fixture) async throws in
            let empty = try await fixture.page.get("/try")
            #expect(empty.status == 200 && empty.body.contains("name=\"url\"") && !empty.body.contains("id=\"toml\""))
            #expect(try await fixture.page.get("/").body.contains("href=\"/try\""))
            let url = "\(fixture.server.url)/shop"
            let page = try await fixture.page.post("/try", form: ["url": url, "document": "", "do": "infer"])
            #expect(page.status == 200, "\(page.body)")
            for text in [
                "<h2>product <small>2 rows</small></h2>", "sku <small>key</small>", "<bdi>T\u{E9}</bdi>",
                "<bdi>16.95</bdi>",
                "&lt;b&gt;Jam&lt;/b&gt;", "2 records",
            ] { #expect(page.body.contains(text), "\(text): \(page.body)") }
            #expect(!page.body.contains("<b>Jam"))
            #expect(fixture.server.requests("/shop").count == 1)
            let toml = try Self.toml(page.body)
            #expect(toml.contains("url = \"\(url)\""))

            // Another name, and a column less.
            let changed = toml.replacing("table = \"product\"", with: "table = \"article\"").replacing(
                /\nprice[^\n]*/, with: "")
            let again = try await fixture.page.post(
                "/try", form: ["url": url, "document": "", "toml": changed, "do": "rows"])
            #expect(again.body.contains("<h2>article <small>2 rows</small></h2>"), "\(again.body)")
            #expect(again.body.contains("product/price</code>") && !again.body.contains("<bdi>16.95"))
            #expect(try Self.toml(again.body) == changed)

            // What is copied is a source.
            let answer = try await fixture.page.post("/api/try?url=\(url)")
            struct Answer: Decodable {
                struct Table: Decodable {
                    var table: String
                    var key: [String]
                    var columns: [String]
                    var count: Int
                }

                var toml: String
                var tables: [Table]
                var problems: [String]
            }
            let trial = try JSONDecoder().decode(Answer.self, from: Data(answer.body.utf8))
            #expect(trial.tables.map(\.table) == ["product"] && trial.tables[0].count == 2 && trial.problems == [])
            #expect(trial.tables[0].key == ["sku"] && trial.tables[0].columns == ["sku", "name", "price"])
            let file = fixture.folder.file("sources.toml")
            try fixture.folder.write(try String(contentsOfFile: file, encoding: .utf8) + trial.toml, to: "sources.toml")
            let check = try await fixture.program.run("check")
            #expect(check.status == 0, "\(check.standardError)")
            #expect(try await fixture.page.post("/api/try").status == 400)
        }
    }

    @Test func aWorkbookBecomesRows() async throws {
        try await Self.withShop { (fixture) async throws in
            let workbook = Workbook(Workbook.rows([["sku", "name"], ["a1", "Tea"], ["a2", "Jam"]])).bytes
            for path in ["/book.xlsx", "/book"] {
                fixture.server.route(path) { _ in
                    StubServer.response(200, workbook, ["Content-Type": "application/octet-stream"])
                }
            }
            let url = "\(fixture.server.url)/book.xlsx"
            let page = try await fixture.page.post("/try", form: ["url": url, "document": "", "do": "infer"])
            #expect(page.status == 200 && page.body.contains("<bdi>Jam</bdi>"), "\(page.body)")
            let toml = try Self.toml(page.body)
            #expect(toml.contains("format = \"xlsx\""), "\(toml)")
            // The declaration names the format of an address that does not show it.
            let other = "\(fixture.server.url)/book"
            let again = try await fixture.page.post(
                "/try",
                form: [
                    "url": other, "document": "",
                    "toml": toml.replacing(url, with: other).replacing(
                        "format = \"xlsx\"", with: "format = \"xlsx\"\nxlsx = { sheet = \"Sheet1\" }"),
                    "do": "rows",
                ])
            #expect(again.body.contains("<bdi>Jam</bdi>"), "\(again.body)")
        }
    }

    /// A table that another source writes gets another name, as `infer` proposes it.
    @Test func aLimitOfSkippedRecordsIsTried() async throws {
        try await Self.withShop { (fixture) async throws in
            fixture.server.document("/mixed", "<r><i id='1' n='1'/><i id='2' n='x'/><i id='3' n='y'/></r>")
            let url = "\(fixture.server.url)/mixed"
            for (most, expected) in [(2, "2 records would be skipped"), (1, "allows no more")] {
                let toml = """
                    [sources.s]
                    [[sources.s.requests]]
                    url = "\(url)"
                    max_skipped = \(most)
                    [[sources.s.requests.tables]]
                    table = "mixed"
                    element = "i"
                    key = ["id"]
                    columns = { id = "@id", n = { path = "@n", type = "integer", on_error = "skip" } }
                    """
                let page = try await fixture.page.post(
                    "/try", form: ["url": url, "document": "", "toml": toml, "do": "rows"])
                #expect(page.body.contains(expected), "\(page.body)")
            }
        }
    }

    @Test func tablesOfOtherSourcesAreLeftAlone() async throws {
        try await PageFixture.with(defaults: "allow_private = true") { (fixture) async throws in
            fixture.server.route("/more") { _ in
                StubServer.response(200, "<all><news><id>1</id></news><news><id>2</id></news></all>")
            }
            let answer = try await fixture.page.post("/api/try?url=\(fixture.server.url)/more")
            #expect(answer.status == 200 && !answer.body.contains("\"table\":\"news\""), "\(answer.body)")
        }
    }

    @Test func aDocumentIsPasted() async throws {
        try await Self.withShop(defaults: "") { (fixture) async throws in
            let page = try await fixture.page.post("/try", form: ["url": "", "document": Self.shop, "do": "infer"])
            #expect(page.body.contains("<bdi>T\u{E9}</bdi>"), "\(page.body)")
            let csv = try await fixture.page.post(
                "/try", form: ["url": "", "document": "id;name\r\n1;Tea\r\n2;Jam\r\n", "do": "infer"])
            #expect(csv.body.contains("2 rows") && csv.body.contains("<bdi>Jam</bdi>"), "\(csv.body)")
            let json = try await fixture.page.post(
                "/try", form: ["url": "", "document": "{\"items\": [{\"id\": 1}, {\"id\": 2}]}", "do": "infer"])
            #expect(json.body.contains("2 rows"), "\(json.body)")
            let script = "</textarea><script>alert(1)</script>"
            let broken = try await fixture.page.post("/try", form: ["url": "", "document": script, "do": "infer"])
            #expect(
                broken.status == 200 && broken.body.contains("class=\"error\"")
                    && !broken.body.contains("<script>alert"))
            #expect(try await fixture.page.post("/try", form: ["url": "", "document": ""]).status == 400)
            // Each character is in the column in which it was pasted.
            for (start, column) in [("", 11), ("<?xml version=\"1.0\" encoding='ISO-8859-1' ?>", 55)] {
                let page = try await fixture.page.post(
                    "/try", form: ["url": "", "document": start + "<a><b></a>", "do": "infer"])
                #expect(page.body.contains("line 1, column \(column)"), "\(page.body)")
            }
        }
    }

    @Test func onlyPublicAddressesAreTried() async throws {
        try await Self.withShop(defaults: "") { (fixture) async throws in
            for url in ["\(fixture.server.url)/shop", "http://localhost:\(fixture.server.port)/shop"] {
                let page = try await fixture.page.post("/try", form: ["url": url, "do": "infer"])
                #expect(page.body.contains("only public addresses are tried"), "\(url): \(page.body)")
            }
            for url in ["file:///etc/passwd", "/etc/passwd", "ftp://127.0.0.1/x"] {
                let page = try await fixture.page.post("/try", form: ["url": url, "do": "infer"])
                #expect(page.body.contains("write one that begins with http:// or https://"), "\(url): \(page.body)")
            }
            #expect(fixture.server.requests("/shop").isEmpty)
        }
    }

    @Test(arguments: [
        ("[store]\npath = \"x\"\n", "sources.toml:1: store: this key is not tried out here"),
        ("[hooks.h]\ncommand = [\"true\"]\n", "hooks: this key is not tried out here"),
        ("[sources.s]\ncache = \"1h\"\nheaders = { a = \"b\" }\n", "sources.s.headers: this key is not tried out here"),
        (
            "[[sources.s.requests]]\nurl = \"http://x/\"\ntls = { ca = \"/etc/passwd\" }\n",
            "sources.toml:3: sources.s.requests[1].tls: this key is not tried out here"
        ),
        ("[[sources.s.requests]]\nurl = \"${file:/etc/passwd}\"\nparser = \"mirrored\"\n", "files are not read here"),
        ("[[sources.s.requests]]\nurl = \"http://${HOME}/\"\nparser = \"mirrored\"\n", "'HOME' is not set"),
        ("[sources.s]\n[sources.t]\n", "there are 2"), ("x = [", "sources.toml:1: this is not TOML"),
        ("", "there are 0"),
    ])
    func aDeclarationLeadsNowhereElse(_ toml: String, _ message: String) async throws {
        try await Self.withShop { (fixture) async throws in
            let page = try await fixture.page.post("/try", form: ["document": Self.shop, "toml": toml, "do": "rows"])
            let body = page.body.replacing("&#39;", with: "'")
            #expect(body.contains(message) && !body.contains("root:"), "\(body)")
        }
    }

    @Test func itIsForThoseWhoMaySeeRows() async throws {
        try await PageFixture.with(daemon: "rows = false") { (fixture) async throws in
            #expect(try await fixture.page.get("/try").status == 404)
            #expect(try await fixture.page.post("/try", form: ["document": Self.shop]).status == 404)
            #expect(try await fixture.page.post("/api/try?url=http://example.com/").status == 404)
            #expect(try await !fixture.page.get("/").body.contains("href=\"/try\""))
        }
        let tokens = "token = \"0123456789abcdef-secret\"\nread_token = \"fedcba9876543210-secret\""
        try await PageFixture.with(daemon: tokens) { (fixture) async throws in
            let form = ["document": Self.shop, "do": "infer"]
            #expect(try await fixture.page.post("/try", form: form).status == 401)
            let reader = ["Authorization": "Bearer fedcba9876543210-secret"]
            #expect(try await fixture.page.post("/try", form: form, reader).status == 403)
            let writer = ["Authorization": "Bearer 0123456789abcdef-secret"]
            #expect(try await fixture.page.post("/try", form: form, writer).status == 200)
            let other = writer.merging(["Origin": "http://evil.example"]) { $1 }
            #expect(try await fixture.page.post("/try", form: form, other).status == 403)
            // Only this page takes a form, and not any length.
            let long = writer.merging(["Content-Length": "\(5 << 20)"]) { $1 }
            #expect(try await fixture.page.post("/try", form: form, long).status == 400)
            #expect(try await fixture.page.post("/sources/news/refresh", form: form, writer).status == 400)
        }
    }
}
