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

/// An item or entry of a feed: a row of `entry`.
struct Entry: FeedRecord {
    var feed = ""
    var id = ""
    var title: String?
    var link: String?
    var author: String?
    var published: Date?
    var updated: Date?
    var summary: String?
    var content: String?
    var language: String?
    var image: String?
    /// The length of a podcast's episode, in seconds.
    var duration: Int?
    /// The fetch time of the first committed run with the entry.
    var firstSeen: Date?

    enum CodingKeys: String, CodingKey {
        case feed, id, title, link, author, published, updated, summary, content, language, image, duration
        case firstSeen = "first_seen"
    }

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .iso8601 }

    /// A number that stays the same in every run while the title, link and summary do (64-bit FNV-1a).
    var digest: UInt64 {
        [title, link, summary].reduce(Self.seed) { hash, text in Self.hash(text ?? "", hash) &+ 1 }
    }

    static func hash(_ text: String, _ start: UInt64 = seed) -> UInt64 {
        text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    private static let seed: UInt64 = 0xcbf2_9ce4_8422_2325
}

/// A category, tag or subject of an entry: a row of `entry_category`.
struct Category: FeedRecord {
    static let databaseTableName = "entry_category"

    var feed = ""
    var entry = ""
    var term = ""
    /// The address of the vocabulary that the term belongs to; empty if none is named.
    var scheme = ""
    /// The text shown to people in place of the term.
    var label: String?
}

/// A file that belongs to an entry, such as a podcast's episode: a row of `enclosure`.
struct Enclosure: FeedRecord {
    var feed = ""
    var entry = ""
    var url = ""
    var type: String?
    var length: Int?
}
