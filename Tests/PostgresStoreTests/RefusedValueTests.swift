import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore

/// Values that a column of PostgreSQL's does not take: the error names the column, the value and the row.
@Suite struct RefusedValueTests {
    private func with(_ body: (MergeFixture) throws -> Void) async throws {
        try await MergeFixture.with("CREATE TABLE contact (email text PRIMARY KEY, age bigint, nick varchar(5))", body)
    }

    private func refusal(
        _ fixture: MergeFixture, _ rule: MergeRule = MergeRule(), _ stage: (WorkerContext) throws -> Void
    ) throws -> String {
        let error = #expect(throws: StoreError.self) { try fixture.commit(rule, stage) }
        #expect(error?.code == .constraint)
        #expect(try fixture.rows("SELECT * FROM contact") == [])
        return error?.message ?? ""
    }

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

    @Test func keysThatAreTooLongForAnIndex() async throws {
        try await with { fixture in
            let message = try refusal(fixture) {
                try $0.insert(into: "contact", ["email": String(repeating: "x", count: 1 << 20)])
            }
            #expect(message.contains("table 'contact': index row requires"), "\(message)")
            #expect(message.contains("longer than the 2,700 bytes that an index takes"), "\(message)")
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
