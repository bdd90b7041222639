import Foundation
import GRDB
import Tributary

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
