import Foundation
import TestStores
import TestSupport

/// A store with all that the documentation speaks of: sources that work, one that fails, a history, kept bodies, a hook.
struct DocumentedStore {
    let folder: TemporaryFolder
    let store: TestStore

    var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

    /// - Parameter isFilled: true where each source is to have run, the shop with two versions of its document.
    static func with(isFilled: Bool = true, _ body: (DocumentedStore) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try await withTestStore(in: folder) { (store) async throws in
                let documented = DocumentedStore(folder: folder, store: store)
                try documented.declare()
                try documented.serve("<shop><product id='17' price='9.5'/><product id='18' price='2'/></shop>")
                if isFilled {
                    _ = try await documented.program.run("sync")
                    try documented.serve("<shop><product id='17' price='10'/><product id='19' price='3'/></shop>")
                    _ = try await documented.program.run("sync", "shop", "--force")
                }
                try await body(documented)
            }
        }
    }

    func serve(_ document: String) throws { try folder.write(document, to: "shop.xml") }

    /// - Parameters:
    ///   - price: the type of the products' prices.
    ///   - isComplete: false where only the shop is declared.
    func declare(price: String = "decimal", isComplete: Bool = true) throws {
        let feeds = MarkdownFile.root.appendingPathComponent("Scripts/sample-feeds").absoluteString
        var text =
            store.declaration + """
                [sources.shop]
                keep_history = true
                keep_bodies = 2
                [[sources.shop.requests]]
                key = "products"
                url = "file://\(folder.file("shop.xml"))"
                sync = "mirror"
                max_deleted = 1
                [[sources.shop.requests.tables]]
                table = "product"
                element = "product"
                key = ["id"]
                columns = { id = { path = "@id", type = "integer" }, price = { path = "@price", type = "\(price)", on_error = "skip" }, note = "note" }

                [hooks.works]
                on = ["changed"]
                run = ["/bin/true"]
                [hooks.fails]
                on = ["blocked"]
                run = ["/bin/false"]

                """
        if isComplete {
            text += """
                [sources.reading]
                parser = "SyndicationParser"
                [[sources.reading.requests]]
                key = "river-levels"
                url = "\(feeds)river-levels.atom"
                [[sources.reading.requests]]
                key = "podcast"
                url = "\(feeds)podcast.rss"
                [sources.rates]
                [[sources.rates.requests]]
                url = "\(feeds)eurofxref-daily.xml"
                parser = "EurofxrefParser"
                [sources.site]
                [[sources.site.requests]]
                url = "\(feeds)sitemap.xml"
                parser = "SitemapParser"
                [sources.broken]
                [[sources.broken.requests]]
                url = "file://\(folder.file("missing.xml"))"
                parser = "SitemapParser"

                """
        }
        try folder.write(text, to: "sources.toml")
    }
}
