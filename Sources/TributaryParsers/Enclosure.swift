import GRDB
import Tributary

/// A file that belongs to an entry, such as a podcast's episode: a row of `enclosure`.
struct Enclosure: FeedRecord {
    var feed = ""
    var entry = ""
    var url = ""
    var type: String?
    var length: Int?
}
