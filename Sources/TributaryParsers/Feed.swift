import Foundation
import GRDB
import Tributary

/// A channel or feed: a row of `feed`.
struct Feed: FeedRecord {
    /// What it is known by in the other tables; see ``SyndicationParser``.
    var feed = ""
    /// `rss`, `rss1` or `atom`.
    var format = "rss"
    var title: String?
    var link: String?
    var description: String?
    var language: String?
    var updated: Date?
    /// The source and the request that it came by.
    var source: String?
    var request: String?
    /// Its address, as it is declared.
    var url: String?
    /// What an Atom feed calls itself.
    var id: String?
    var author: String?
    var image: String?
    var published: Date?

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .iso8601 }
}
