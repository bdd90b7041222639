import FeedModel
import Foundation
import GRDB
import TestStores
import Testing

@testable import FeedStaging
@testable import FeedStores

/// What the store refuses: the error names the row, and nothing has changed.
@Suite(.onEachStore) struct ConstraintTests {
    let schema = """
        CREATE TABLE company (id text PRIMARY KEY, name text NOT NULL);
        CREATE TABLE contact (
            email text PRIMARY KEY, age bigint CHECK (age >= 0), nick varchar(5) UNIQUE,
            company text REFERENCES company(id))
        """

    private func refusal(
        _ fixture: StackFixture, _ rule: MergeRule = MergeRule(), _ stage: (WorkerContext) throws -> Void
    ) throws -> String {
        let error = #expect(throws: StoreError.self) { try fixture.commit(rule, stage) }
        #expect(error?.code == .constraint)
        #expect(try fixture.rows("SELECT * FROM company") == ["acme|Acme"])
        #expect(try fixture.rows("SELECT * FROM contact") == ["a@b|1|al|acme"])
        return error?.message ?? ""
    }

    private func with(_ body: (StackFixture) throws -> Void) async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            try fixture.commit { context in
                try context.insert(into: "company", ["id": "acme", "name": "Acme"])
                try context.insert(into: "contact", ["email": "a@b", "age": 1, "nick": "al", "company": "acme"])
            }
            try body(fixture)
        }
    }

    @Test func foreignKey() async throws {
        try await with { fixture in
            let message = try refusal(fixture) { context in
                try context.insert(into: "contact", ["email": "fine@b", "company": "acme"])
                try context.insert(into: "contact", ["email": "x@y", "company": "nobody"])
            }
            #expect(message.contains("table 'contact'") && message.contains("nobody"))
        }
    }

    /// A parent that a mirror would delete while a row of another source still needs it.
    @Test func aDeletionThatLeavesAnOrphan() async throws {
        try await with { fixture in
            let message = try refusal(fixture, MergeRule(sync: .mirror)) {
                try $0.insert(into: "company", ["id": "other", "name": "Other"])
            }
            #expect(message.contains("acme") && message.contains("contact"))
        }
    }

    @Test func notNull() async throws {
        try await with { fixture in
            let message = try refusal(fixture) { try $0.insert(into: "company", ["id": "nameless", "name": nil]) }
            #expect(message.contains("column 'name' must not be NULL") && message.contains("nameless"))
            let lacking = try refusal(fixture) { try $0.insert(into: "company", ["id": "nameless"]) }
            #expect(lacking.contains("'company'") && lacking.contains("name"))
        }
    }

    @Test func uniqueCheckAndKey() async throws {
        try await with { fixture in
            let unique = try refusal(fixture) { try $0.insert(into: "contact", ["email": "n@b", "nick": "al"]) }
            #expect(unique.contains("'contact'") && unique.contains("nick"))
            let check = try refusal(fixture) { try $0.insert(into: "contact", ["email": "n@b", "age": -1]) }
            #expect(check.contains("'contact'") && check.contains("age"))
            let key = try refusal(fixture) { try $0.insert(into: "contact", ["email": nil, "age": 5]) }
            #expect(key.contains("key column 'email'"))
        }
    }

    @Test func unknownTableAndColumn() async throws {
        try await with { fixture in
            let table = #expect(throws: StoreError.self) {
                try fixture.commit { try $0.insert(into: "nothing", ["a": 1]) }
            }
            #expect(table?.message.contains("no table 'nothing'") == true)
            let column = #expect(throws: StoreError.self) {
                try fixture.commit { try $0.insert(into: "company", ["id": 1, "nmae": 2]) }
            }
            #expect(column?.message.contains("no column 'nmae'") == true)
        }
    }
}
