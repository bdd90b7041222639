import GRDB
import Tributary

/// A row of the table `contact`. Every element of the feed but `email` is optional, and so are the columns.
struct Contact: FeedRecord, Equatable {
    var email: String?
    var firstName: String?
    var lastName: String?
    var lastNameInitial: String?
    var company: String?
    var age: Int?
    var balance: Double?
    var updated: String?
}
