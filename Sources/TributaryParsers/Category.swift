import GRDB
import Tributary

/// A category, tag or subject of an entry: a row of `entry_category`.
struct Category: FeedRecord {
    static let databaseTableName = "entry_category"

    var feed = ""
    var entry = ""
    var term = ""
    /// The address of the vocabulary that the term is of; empty where none is named.
    var scheme = ""
    /// What people are shown instead of the term.
    var label: String?
}
