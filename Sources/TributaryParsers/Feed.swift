import Foundation
import GRDB
import Tributary

/// A channel or feed: a row of `feed`.
struct Feed: FeedRecord {
    /// The feed's key, which the other tables use too; see ``SyndicationParser``.
    var feed = ""
    /// `rss`, `rss1` or `atom`.
    var format = "rss"
    var title: String?
    var link: String?
    var description: String?
    var language: String?
    var updated: Date?
    /// The source and the request that fetched it.
    var source: String?
    var request: String?
    /// The feed's address, as declared.
    var url: String?
    /// The id of an Atom feed, as it gives it.
    var id: String?
    var author: String?
    var image: String?
    var published: Date?

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .iso8601 }
}
