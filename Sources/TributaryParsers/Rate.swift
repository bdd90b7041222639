import GRDB
import Tributary

/// What one euro was worth on a day: a row of `rate`.
struct Rate: FeedRecord {
    var day: String?
    var currency = ""
    var value: Double?
}
