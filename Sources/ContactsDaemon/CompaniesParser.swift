import GRDB
import Tributary

/// `<companies><company id="acme"><name>Acme</name></company>…</companies>`
final class CompaniesParser: FeedParser {
    override class var tables: [String] { ["company"] }

    private var company = Company()

    override func didStartElement() throws {
        if element == "company" { company = Company(id: attributes["id"] ?? "") }
    }

    override func didEndElement() throws {
        switch element {
        case "name": bind(&company.name)
        case "company": try context.insert(company)
        default: break
        }
    }
}

/// A row of the table `company`.
struct Company: FeedRecord, Equatable {
    var id = ""
    var name: String?
}
