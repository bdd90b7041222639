import GRDB
import Tributary

/// A category, tag or subject of an entry: a row of `entry_category`.
struct Category: FeedRecord {
    static let databaseTableName = "entry_category"

    var feed = ""
    var entry = ""
    var term = ""
    /// The address of the vocabulary that the term belongs to; empty where none is named.
    var scheme = ""
    /// The text shown to people in place of the term.
    var label: String?
}
