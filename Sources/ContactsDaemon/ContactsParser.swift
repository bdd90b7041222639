import GRDB
import Tributary

/// `<contacts><contact><firstName/><lastName/><email/><company>acme</company><age/><balance/><updated/></contact>…`
final class ContactsParser: FeedParser {
    override class var tables: [String] { ["contact"] }

    private var contact = Contact()

    override func didStartElement() throws {
        if element == "contact" { contact = Contact() }
    }

    override func didEndElement() throws {
        switch element {
        case "contact": try context.insert(contact)
        case "firstName": bind(&contact.firstName)
        case "lastName":
            bind(&contact.lastName)
            contact.lastNameInitial = contact.lastName?.first.map(String.init)
        case "email": bind(&contact.email)
        case "company": bind(&contact.company)
        case "age": bind(&contact.age)
        case "balance": bind(&contact.balance)
        case "updated": bind(&contact.updated)
        default: break
        }
    }
}

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
