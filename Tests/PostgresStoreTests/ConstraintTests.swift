import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore

/// What the store refuses: the error names the row, and nothing has changed.
@Suite struct ConstraintTests {
    let schema = """
        CREATE TABLE company (id text PRIMARY KEY, name text NOT NULL);
        CREATE TABLE contact (
            email text PRIMARY KEY, age bigint CHECK (age >= 0), nick varchar(5) UNIQUE,
            company text REFERENCES company(id))
        """

    private func refusal(
        _ fixture: MergeFixture, _ rule: MergeRule = MergeRule(), _ stage: (WorkerContext) throws -> Void
    ) throws -> String {
        let error = #expect(throws: StoreError.self) { try fixture.commit(rule, stage) }
        #expect(error?.code == .constraint)
        #expect(try fixture.rows("SELECT * FROM company") == ["acme|Acme"])
        #expect(try fixture.rows("SELECT * FROM contact") == ["a@b|1|al|acme"])
        return error?.message ?? ""
    }

    private func with(_ body: (MergeFixture) throws -> Void) async throws {
        try await MergeFixture.with(schema) { (fixture) async throws in
            try fixture.commit { context in
                try context.insert(into: "company", ["id": "acme", "name": "Acme"])
                try context.insert(into: "contact", ["email": "a@b", "age": 1, "nick": "al", "company": "acme"])
            }
            try body(fixture)
        }
    }

    /// What the column's type does not take: the error names the column, the value and the row.
    @Test(arguments: [("age", "old", "bigint"), ("nick", "too long", "varying(5)")])
    func valuesOfAnotherType(column: String, value: String, type: String) async throws {
        try await with { fixture in
            let message = try refusal(fixture) { context in
                try context.insert(into: "contact", ["email": "fine@b", column: nil])
                try context.insert(into: "contact", ["email": "x@y", column: value])
            }
            #expect(message.contains("table 'contact': column '\(column)'"), "\(message)")
            #expect(message.contains("x@y") && message.contains(value) && message.contains(type), "\(message)")
        }
    }

    @Test func textsWithNUL() async throws {
        try await with { fixture in
            let message = try refusal(fixture) { context in
                try context.insert(Contact(email: "fine@b", nick: nil))
                try context.insert(Contact(email: "x@y", nick: "a\u{0}b"))
            }
            #expect(message.contains("table 'contact'") && message.contains("'nick'") && message.contains("x@y"))
            #expect(message.contains("U+0000"), "\(message)")
            let scope = try refusal(fixture, MergeRule(scope: ["nick": "a\u{0}b"])) {
                try $0.insert(into: "contact", ["email": "x@y"])
            }
            #expect(scope.contains("U+0000"), "\(scope)")
        }
    }

    @Test func bytesInATextColumn() async throws {
        try await with { fixture in
            let message = try refusal(fixture) { try $0.insert(into: "contact", ["email": "x@y", "nick": Data([1])]) }
            #expect(message.contains("'nick'") && message.contains("bytea"), "\(message)")
        }
    }
}

private struct Contact: FeedRecord {
    static let databaseTableName = "contact"
    var email: String
    var nick: String?
}
