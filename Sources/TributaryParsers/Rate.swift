import GRDB
import Tributary

/// The worth of one euro on a day: a row of `rate`.
struct Rate: FeedRecord {
    var day: String?
    var currency = ""
    var value: Double?
}
