import GRDB
import Tributary

/// A row of the table `contact`. All elements of the feed except `email` are optional, and so are their columns.
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
