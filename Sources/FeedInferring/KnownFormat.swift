package import FeedConfiguration
import XMLStream

/// A format for which there is a built-in parser, by the root element of its documents.
package struct KnownFormat: Sendable, Equatable {
    package var name: String
    package var parser: String

    /// Returns the format of a document; nil for a document of any other.
    package init?(_ document: DocumentProfile) {
        guard let root = document.root else { return nil }
        let namespace = root.name.namespace ?? ""
        switch root.name.local {
        case "rss" where namespace.isEmpty: self.init(name: "RSS", parser: "SyndicationParser")
        case "feed" where namespace == "http://www.w3.org/2005/Atom":
            self.init(name: "Atom", parser: "SyndicationParser")
        case "RDF" where root.children.contains(where: { $0.name.namespace == "http://purl.org/rss/1.0/" }):
            self.init(name: "RSS 1.0", parser: "SyndicationParser")
        case "urlset" where namespace.hasPrefix("http://www.sitemaps.org/"),
            "sitemapindex" where namespace.hasPrefix("http://www.sitemaps.org/"):
            self.init(name: "a sitemap", parser: "SitemapParser")
        case "Envelope" where namespace.hasPrefix("http://www.gesmes.org/"):
            guard root.children.contains(where: { $0.name.namespace?.hasSuffix("/eurofxref") ?? false }) else {
                return nil
            }
            self.init(name: "a list of the euro's reference rates", parser: "EurofxrefParser")
        default: return nil
        }
    }

    private init(name: String, parser: String) {
        self.name = name
        self.parser = parser
    }

    /// Returns a source whose request names the parser.
    ///
    /// - Parameters:
    ///   - tables: the tables that the parser writes.
    ///   - credentials: what else the request sends.
    package func proposal(
        url: String, sourceName: String?, tables: [String], credentials: GivenCredentials = GivenCredentials()
    ) -> MappingProposal {
        let source = sourceName ?? SourceName.make(of: url)
        let key = "sources." + TOMLText.key(source)
        let written = tables.count == 1 ? "table \(tables[0])" : "tables \(tables.joined(separator: ", "))"
        return MappingProposal(
            sourceName: source,
            toml: """
                # The document is \(name), for which there is a parser: it writes the \(written).
                # `tributary infer --mapping` proposes a mapping of its own instead.
                [\(key)]
                cache = "1h"

                [[\(key).requests]]
                key = \(TOMLText.string(source))
                url = \(TOMLText.string(url))
                parser = \(TOMLText.string(parser))

                """ + credentials.declaration.map { $0 + "\n" }.joined())
    }
}
