import Foundation
import TestSupport

/// `contacts-daemon` with its own `sources.toml`, fed by a stub server.
struct ContactsFixture {
    let server: StubServer
    let folder: TemporaryFolder

    static func with(_ body: (ContactsFixture) async throws -> Void) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                    .appendingPathComponent("../../Sources/ContactsDaemon/sources.toml").standardizedFileURL
                try folder.write(String(contentsOf: example, encoding: .utf8), to: "sources.toml")
                try await body(ContactsFixture(server: server, folder: folder))
            }
        }
    }

    var storePath: String { folder.file("contacts.sqlite") }

    var program: BuiltProgram {
        BuiltProgram("contacts-daemon", config: folder.file("sources.toml"), environment: ["CONTACTS_URL": server.url])
    }

    /// A version of both feeds: companies `c0…`, and contacts of which each names a company and the version.
    func serve(_ version: String, contacts: Int, etags: Bool = true) {
        let companies = (0..<10).map { "<company id='\(version)\($0)'><name>Company \($0)</name></company>" }.joined()
        let people = (0..<contacts).map { number in
            """
            <contact><firstName>F\(number)</firstName><lastName>Äl\(version)</lastName><email>\(number)@example.org</email>\
            <company>\(version)\(number % 10)</company><age>\(20 + number % 60)</age><balance>1.5</balance>\
            <updated>2026-11-21T08:00:00Z</updated></contact>
            """
        }.joined(separator: "\n")
        server.document("/companies.xml", "<companies>\(companies)</companies>", etag: etags ? "\"c\(version)\"" : nil)
        server.document("/contacts.xml", "<contacts>\(people)</contacts>", etag: etags ? "\"p\(version)\"" : nil)
    }
}
