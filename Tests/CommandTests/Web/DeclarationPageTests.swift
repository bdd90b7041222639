import Foundation
import TestSupport
import Testing

/// What the page of a source shows of its declaration.
struct DeclarationPageTests {
    private static let source = #"""
        [sources.secret]
        enabled = false
        [[sources.secret.requests]]
        url = "http://127.0.0.1:1/feed?lang=hunter1&key=hunter2&plain"
        headers = { X-Api-Key = """
        hun\
        ter3""", Accept = "text/xml" }
        parameters = { appid = "hunter4", page = "hunter5" }
        auth = { basic = { user = "hunter6", password = "hunter7" } }
        parser = "mirrored"
        [[sources.secret.requests]]
        key = "second"
        url = "http://127.0.0.1:1/login"
        method = "POST"
        headers = { Cookie = "hunter8" }
        body = "<login><Password>hunter9</Password></login>"
        [[sources.secret.requests.tables]]
        table = "product"
        element = "item"
        key = ["id"]
        sync = "upsert"
        [sources.secret.requests.tables.columns]
        id = "@id"
        [sources.secret.requests.tables.columns.kind]
        path = "@kind"
        values = { VALUES }

        """#

    @Test func itHasNamesAndNoValueThatMayBeSecret() async throws {
        // A table of words takes no room on the page.
        let values = (0..<5_000).map { "word\($0) = \"long word \($0)\"" }.joined(separator: ", ")
        let more = Self.source.replacing("VALUES", with: values)
        try await PageFixture.with(more: more) { (fixture) async throws in
            let page = try await fixture.page.get("/sources/secret").body
            #expect(!page.contains("hunter") && !page.contains("hun\\") && !page.contains("ter3"), "\(page)")
            for text in [
                "GET http://127.0.0.1:1/feed?lang=…&amp;key=…&amp;…", "headers: Accept, X-Api-Key",
                "parameters: appid, page", "auth: basic", "parser: mirrored", "POST http://127.0.0.1:1/login",
                "headers: Accept, Content-Type, Cookie", "<code>sources.toml</code>",
                "<dt><code>cache</code></dt><dd>24 h</dd>",
                "<dt><code>keep_history</code></dt><dd>true</dd>", "<dt><code>enabled</code></dt><dd>false</dd>",
                ">product</span>", "data-label=\"Element\"><code>item</code>", "data-label=\"Sync\">upsert<",
                "data-label=\"Key\">id<", "data-label=\"Columns\">id, kind<",
            ] { #expect(page.contains(text), "\(text): \(page)") }
            #expect(page.utf8.count < 50_000 && !page.contains("long word"))
            for try await part in fixture.page.events("/live?page=%2Fsources%2Fsecret") {
                #expect(!part.contains("hunter"))
                if part.contains("\"declaration\"") { break }
            }
        }
    }
}
