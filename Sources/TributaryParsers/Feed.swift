import Foundation
import GRDB
import Tributary

/// A channel or feed: a row of `feed`.
struct Feed: FeedRecord {
    /// Its address.
    var feed = ""
    /// `rss`, `rss1` or `atom`.
    var format = "rss"
    var title: String?
    var link: String?
    var description: String?
    var language: String?
    var updated: Date?

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .iso8601 }
}
