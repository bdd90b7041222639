import FeedConfiguration
import FeedDeclarations
import FeedParsing
import Foundation
import TestSupport
import Testing

/// The lines of a source in `sources.toml`, for those who look at it.
struct DeclarationLinesTests {
    @Test func aSourceHasItsLinesAndTheCommentsAboveThem() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let text = """
                # The file.

                [defaults]
                cache = "1h"

                # What the shop sends.
                [sources.shop]
                cache = "5m"  # often

                [[sources.shop.requests]]
                # An address.
                url = "http://example.com/"
                body = \"""
                  # no comment

                  text
                \"""
                # Nobody's.

                [sources."a b"]
                requests = [
                  { url = "http://example.org/" },
                ]
                """
            try folder.write(text, to: "sources.toml")
            let lines = try DeclarationLines(file: folder.file("sources.toml"))
            #expect(lines.lines(of: "shop").map(\.number) == [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17])
            #expect(lines.lines(of: "shop").first?.text == "# What the shop sends.")
            #expect(lines.lines(of: "a b").map(\.number) == [20, 21, 22, 23])
            #expect(lines.defaults.map(\.number) == [3, 4])
            #expect(lines.lines(of: "none").isEmpty)
        }
    }

    @Test(arguments: [
        ("auth = { bearer = \"abc\" }", "auth = { bearer = \"[secret]\" }"),
        ("\"X-Api-Key\" = 'abc'", "\"X-Api-Key\" = '[secret]'"), ("password = \"${P}\"", "password = \"${P}\""),
        ("encryption_key = \"abc\"", "encryption_key = \"[secret]\""),
        ("page = { token = \"/json/next\" }", "page = { token = \"/json/next\" }"),
        ("page.token = \"/json/next\"", "page.token = \"/json/next\""),
        ("key = [\"id\"]", "key = [\"id\"]"), ("author = \"dc:creator\"", "author = \"dc:creator\""),
        ("product_key = \"@id\"", "product_key = \"@id\""),
        ("url = \"https://a:b@c.example/?key=d&a=b\"", "url = \"https://[secret]@c.example/?key=[secret]&a=b\""),
        ("proxy = \"http://127.0.0.1:8080/\"", "proxy = \"http://127.0.0.1:8080/\""),
    ])
    func literalSecretsAreLeftOut(_ line: String, _ shown: String) {
        #expect(LiteralSecrets.redact(line: line) == shown)
    }
}
