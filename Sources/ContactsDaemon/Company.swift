import GRDB
import Tributary

/// A row of the table `company`.
struct Company: FeedRecord, Equatable {
    var id = ""
    var name: String?
}
