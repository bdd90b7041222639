import Foundation
import GRDB
public import Tributary

/// Parses sitemaps and sitemap indexes (sitemaps.org, protocol 0.9) → `sitemap_url`, one row for each address.
public final class SitemapParser: FeedParser {
    override public class var tables: [String] { ["sitemap_url"] }

    override public class var schema: String {
        """
        CREATE TABLE IF NOT EXISTS sitemap_url (
            sitemap TEXT NOT NULL,
            loc TEXT NOT NULL,
            kind TEXT NOT NULL,
            lastmod TEXT,
            changefreq TEXT,
            priority DOUBLE PRECISION,
            PRIMARY KEY (sitemap, loc)
        );
        """
    }

    private var url = SitemapURL()

    override public func didStartElement() throws {
        if depth == 1, localName != "urlset", localName != "sitemapindex" {
            throw UnexpectedRoot(element, expected: "urlset or sitemapindex")
        }
        guard isCore, localName == "url" || localName == "sitemap" else { return }
        url = SitemapURL(sitemap: response.requestedURL, kind: localName)
    }

    override public func didEndElement() throws {
        // Extensions for images, videos and news have elements of the same names in their own namespaces.
        guard isCore else { return }
        switch localName {
        case "loc": bind(&url.loc)
        case "lastmod": url.lastmod = Date(xmlText: text)
        case "changefreq": bind(&url.changefreq)
        case "priority": bind(&url.priority)
        case "url", "sitemap": try context.insert(url)
        default: break
        }
    }

    /// True for the namespaces of the protocol's versions, and for no namespace.
    private var isCore: Bool {
        guard let namespace else { return true }
        return namespace.hasPrefix("http://www.sitemaps.org/schemas/sitemap/")
            || namespace.hasPrefix("https://www.sitemaps.org/schemas/sitemap/")
            || namespace.hasPrefix("http://www.google.com/schemas/sitemap/0.8")
    }
}

/// An address of a sitemap: a row of `sitemap_url`.
struct SitemapURL: FeedRecord {
    static let databaseTableName = "sitemap_url"

    var sitemap = ""
    var loc: String?
    /// The kind: `url`, or `sitemap` where an index names another sitemap.
    var kind = "url"
    var lastmod: Date?
    var changefreq: String?
    var priority: Double?

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .iso8601 }
}
