import FeedModel
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Many rows that refer to few others: whatever SQLite does not check row by row, the store refuses and takes the same.
@Suite struct ForeignKeyTests {
    private let schema = """
        CREATE TABLE company (id TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE contact (email TEXT PRIMARY KEY, company TEXT REFERENCES company);
        """

    private func stageContacts(_ context: WorkerContext, _ count: Int = 100, of company: (Int) -> String?) throws {
        for number in 0..<count {
            try context.insert(into: "contact", ["email": "\(number)@b", "company": company(number)])
        }
    }

    @Test func rowsWhoseParentsAreThere() async throws {
        try await StoreFixture.with(schema) { fixture in
            let inserted = try fixture.commit { context in
                for id in 0..<5 { try context.insert(into: "company", ["id": "c\(id)"]) }
                try stageContacts(context) { $0 % 7 == 6 ? nil : "c\($0 % 5)" }
            }
            #expect(inserted == MergeCounts(inserted: 105))
            #expect(throws: StoreError.self) {
                try fixture.commit { context in
                    try stageContacts(context, 200) { $0 == 150 ? "nobody" : "c1" }
                }
            }
        }
    }

    /// For the same connection, whether the insertion has succeeded or failed.
    @Test(arguments: [false, true]) func checksAreOnAgain(fails: Bool) async throws {
        let schema = """
            CREATE TABLE company (id TEXT PRIMARY KEY);
            CREATE TABLE contact (email TEXT PRIMARY KEY, company TEXT REFERENCES company, CHECK (email <> '\(fails ? "42@b" : "")'));
            """
        try await StoreFixture.with(schema) { fixture in
            let stage: (WorkerContext) throws -> Void = { context in
                try context.insert(into: "company", ["id": "acme"])
                try stageContacts(context) { _ in "acme" }
            }
            let commit = Result {
                try fixture.commit(to: fixture.store, usesScratch: true, "source", [(MergeRule(), stage)])
            }
            #expect((try? commit.get()) == (fails ? nil : MergeCounts(inserted: 101)))
            #expect(throws: DatabaseError.self) {
                try fixture.store.pool.write { try $0.execute(sql: "INSERT INTO contact VALUES ('x@y', 'nobody')") }
            }
        }
    }

    /// What SQLite would refuse of rows whose values all seem to have parents.
    @Test(arguments: [
        // Keys that no unique index of the parent covers as the parent compares them.
        """
        CREATE TABLE company (id TEXT, x TEXT); INSERT INTO company VALUES ('05', 'x');
        CREATE UNIQUE INDEX company_id ON company (id, lower(x));
        CREATE TABLE contact (email TEXT PRIMARY KEY, company TEXT REFERENCES company (id));
        """,
        """
        CREATE TABLE company (id TEXT); INSERT INTO company VALUES ('05');
        CREATE UNIQUE INDEX company_id ON company (id COLLATE NOCASE);
        CREATE TABLE contact (email TEXT PRIMARY KEY, company TEXT REFERENCES company (id));
        """,
        // Values of any type are compared as they are.
        """
        CREATE TABLE company (id ANY PRIMARY KEY) STRICT; INSERT INTO company VALUES (5);
        CREATE TABLE contact (email TEXT PRIMARY KEY, company ANY REFERENCES company) STRICT;
        """,
    ]) func refusals(schema: String) async throws {
        try await StoreFixture.with(schema) { fixture in
            #expect(throws: (any Error).self) { try fixture.commit { try stageContacts($0) { _ in "05" } } }
        }
    }

    /// NULL in a row id is a number that nobody has given.
    @Test func rowIDsThatRefer() async throws {
        struct Detail: FeedRecord { var id: Int?; var code: String }
        let schema = """
            CREATE TABLE company (id INTEGER PRIMARY KEY); INSERT INTO company VALUES (1);
            CREATE TABLE detail (id INTEGER PRIMARY KEY REFERENCES company, code TEXT UNIQUE);
            """
        try await StoreFixture.with(schema) { fixture in
            #expect(throws: (any Error).self) {
                try fixture.commit(MergeRule(keys: ["detail": ["code"]])) { context in
                    for number in 0..<100 { try context.insert(Detail(id: number == 0 ? 1 : nil, code: "\(number)")) }
                }
            }
        }
    }

    @Test func textsWithNUL() async throws {
        try await StoreFixture.with(schema) { fixture in
            #expect(throws: StoreError.self) {
                try fixture.commit { context in
                    try context.insert(into: "company", ["id": "acme"])
                    try stageContacts(context) { _ in "acme\0x" }
                }
            }
        }
    }

    @Test func oneRowWithoutItsParentAmongMany() async throws {
        try await StoreFixture.with(schema) { fixture in
            let error = #expect(throws: StoreError.self) {
                try fixture.commit { context in
                    try context.insert(into: "company", ["id": "acme"])
                    try stageContacts(context) { $0 == 42 ? "nobody" : "acme" }
                }
            }
            #expect(error?.message.contains("42@b") == true && error?.message.contains("nobody") == true)
        }
    }

    @Test func parentsThatComeLater() async throws {
        try await StoreFixture.with(schema) { fixture in
            let inserted = try fixture.commit { context in
                try stageContacts(context) { _ in "acme" }
                try context.insert(into: "company", ["id": "acme"])
            }
            #expect(inserted == MergeCounts(inserted: 101))
        }
    }

    /// Rows inserted without a check would not count as the parents for which others wait.
    @Test func rowsForWhichOthersWait() async throws {
        let schema = """
            CREATE TABLE country (id TEXT PRIMARY KEY);
            INSERT INTO country VALUES ('pt');
            CREATE TABLE city (id TEXT PRIMARY KEY, country TEXT REFERENCES country);
            CREATE TABLE street (id TEXT PRIMARY KEY, city TEXT REFERENCES city);
            """
        try await StoreFixture.with(schema) { fixture in
            let inserted = try fixture.commit { context in
                for id in 0..<100 { try context.insert(into: "street", ["id": "s\(id)", "city": "c\(id % 10)"]) }
                for id in 0..<10 { try context.insert(into: "city", ["id": "c\(id)", "country": "pt"]) }
            }
            #expect(inserted == MergeCounts(inserted: 110))
        }
    }

    @Test func rowsOfOneTableThatReferToOneAnother() async throws {
        try await StoreFixture.with("CREATE TABLE node (id TEXT PRIMARY KEY, parent TEXT REFERENCES node (id))") {
            fixture in
            let inserted = try fixture.commit { context in
                for id in 0..<100 {
                    try context.insert(into: "node", ["id": "\(id)", "parent": id == 0 ? nil : "\(id / 10)"])
                }
            }
            #expect(inserted == MergeCounts(inserted: 100))
        }
    }

    /// '05' is kept as 5, which is no company.
    @Test func columnsOfDifferentTypes() async throws {
        let schema = """
            CREATE TABLE company (id TEXT PRIMARY KEY);
            INSERT INTO company VALUES ('05');
            CREATE TABLE contact (email TEXT PRIMARY KEY, company INTEGER REFERENCES company);
            """
        try await StoreFixture.with(schema) { fixture in
            #expect(throws: StoreError.self) { try fixture.commit { try stageContacts($0) { _ in "05" } } }
        }
    }

    @Test func parentsAreFoundAsTheirColumnCompares() async throws {
        let schema = """
            CREATE TABLE company (id TEXT COLLATE NOCASE PRIMARY KEY);
            INSERT INTO company VALUES ('acme');
            CREATE TABLE contact (email TEXT PRIMARY KEY, company TEXT REFERENCES company);
            """
        try await StoreFixture.with(schema) { fixture in
            let inserted = try fixture.commit { try stageContacts($0) { $0 % 2 == 0 ? "Acme" : "ACME" } }
            #expect(inserted == MergeCounts(inserted: 100))
        }
    }

    /// What a trigger writes is checked as well.
    @Test func triggers() async throws {
        let schema = """
            \(schema)
            INSERT INTO company VALUES ('acme', 'Acme');
            CREATE TABLE visit (contact TEXT, company TEXT REFERENCES company);
            CREATE TRIGGER visited AFTER INSERT ON contact BEGIN INSERT INTO visit VALUES (new.email, 'nobody'); END;
            """
        try await StoreFixture.with(schema) { fixture in
            #expect(throws: StoreError.self) { try fixture.commit { try stageContacts($0) { _ in "acme" } } }
        }
    }

    @Test func keysOfTwoColumnsAndScopes() async throws {
        let schema = """
            CREATE TABLE place (country TEXT, city TEXT, PRIMARY KEY (country, city));
            INSERT INTO place VALUES ('pt', 'Porto');
            CREATE TABLE feed (name TEXT PRIMARY KEY);
            CREATE TABLE stop (
                id TEXT PRIMARY KEY, country TEXT, city TEXT, feed TEXT REFERENCES feed,
                FOREIGN KEY (country, city) REFERENCES place);
            """
        try await StoreFixture.with(schema) { fixture in
            let stage: (WorkerContext, String) throws -> Void = { context, city in
                for id in 0..<100 { try context.insert(into: "stop", ["id": "\(id)", "country": "pt", "city": city]) }
            }
            let rule = MergeRule(sync: .mirror, scope: ["feed": "metro"])
            #expect(throws: StoreError.self) { try fixture.commit(rule) { try stage($0, "Porto") } }
            try await fixture.store.pool.write { try $0.execute(sql: "INSERT INTO feed VALUES ('metro')") }
            #expect(throws: StoreError.self) { try fixture.commit(rule) { try stage($0, "Lisboa") } }
            let inserted = try fixture.commit(rule) { try stage($0, "Porto") }
            #expect(inserted == MergeCounts(inserted: 100))
        }
    }

    /// A column that no record had is filled by its default, which is no company.
    @Test func defaults() async throws {
        let schema = """
            CREATE TABLE company (id TEXT PRIMARY KEY);
            CREATE TABLE contact (email TEXT PRIMARY KEY, company TEXT DEFAULT 'nobody' REFERENCES company);
            """
        try await StoreFixture.with(schema) { fixture in
            #expect(throws: StoreError.self) {
                try fixture.commit { context in
                    let shape = RowShape(table: "contact", columns: ["email", "company"])
                    let writer = try context.writer(for: shape, rule: MergeRule())
                    for number in 0..<100 {
                        writer.beginRow()
                        Array("\(number)@b".utf8).withUnsafeBytes { writer.append(text: $0) }
                        writer.appendNull()
                        try writer.endRow()
                    }
                    try writer.ignore(["company"], key: ["email"])
                }
            }
        }
    }

    /// As a migration and a move check them, of all tables or of one.
    @Test func aBrokenReferenceIsNamedWithItsRow() async throws {
        try await StoreFixture.with(schema) { fixture in
            try fixture.store.pool.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA foreign_keys = OFF;
                        INSERT INTO contact VALUES ('a@b', 'nobody');
                        PRAGMA foreign_keys = ON
                        """)
                try db.checkForeignKeys(of: "company", ending: "nothing was changed")
                for table in [nil, "contact"] {
                    let error = #expect(throws: StoreError.self) {
                        try db.checkForeignKeys(of: table, ending: "nothing was changed")
                    }
                    #expect(error?.code == .constraint)
                    let message = error?.message ?? ""
                    for part in [
                        "'contact'", "(company) REFERENCES company has no such row", "a@b", "; nothing was changed",
                    ] {
                        #expect(message.contains(part), "\(message)")
                    }
                }
            }
        }
    }
}
