import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB
import TestSupport
import Testing

/// What the main store refuses: the error names the row, and nothing has changed.
@Suite struct ConstraintTests {
    let schema = """
        CREATE TABLE company (id TEXT PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE contact (
            email TEXT PRIMARY KEY, age INTEGER CHECK (age >= 0), nick TEXT UNIQUE, company TEXT REFERENCES company(id))
        """

    private func refusal(
        _ fixture: StoreFixture, _ rule: MergeRule = MergeRule(), _ stage: (WorkerContext) throws -> Void
    ) throws -> StoreError? {
        let before = try dumpRows(fixture.store.reader)
        let runs = try fixture.rows("SELECT * FROM tributary_run")
        do {
            try fixture.commit(rule, stage)
            return nil
        } catch let error as StoreError {
            let after = try dumpRows(fixture.store.reader)
            #expect(after == before)
            let runsAfter = try fixture.rows("SELECT * FROM tributary_run")
            #expect(runsAfter == runs)
            return error
        }
    }

    private func with(_ body: (StoreFixture) throws -> Void) async throws {
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit { context in
                try context.insert(into: "company", ["id": "acme", "name": "Acme"])
                try context.insert(into: "contact", ["email": "a@b", "age": 1, "nick": "al", "company": "acme"])
            }
            try body(fixture)
        }
    }

    @Test func foreignKey() async throws {
        try await with { fixture in
            let error = try refusal(fixture) { context in
                try context.insert(into: "contact", ["email": "fine@b", "company": "acme"])
                try context.insert(into: "contact", ["email": "x@y", "company": "nobody"])
            }
            let message = try #require(error?.message)
            #expect(
                message.contains("contact") && message.contains("x@y") && message.contains("REFERENCES company(id)"))
        }
    }

    /// A parent that a mirror would delete while a row of another source still needs it.
    @Test func aDeletionThatLeavesAnOrphan() async throws {
        try await with { fixture in
            let error = try refusal(fixture, MergeRule(sync: .mirror)) {
                try $0.insert(into: "company", ["id": "other", "name": "Other"])
            }
            #expect(error?.message.contains("a@b") == true)
        }
    }

    @Test func notNull() async throws {
        try await with { fixture in
            let error = try refusal(fixture) { try $0.insert(into: "company", ["id": "nameless", "name": nil]) }
            #expect(error?.message.contains("company.name") == true && error?.message.contains("nameless") == true)
        }
    }

    @Test func notNullInAColumnThatTheFeedLacks() async throws {
        try await with { fixture in
            let error = try refusal(fixture) { try $0.insert(into: "company", ["id": "nameless"]) }
            #expect(error?.code == .constraint && error?.message.contains("company.name") == true)
        }
    }

    @Test func uniqueCheckAndKey() async throws {
        try await with { fixture in
            let unique = try refusal(fixture) { try $0.insert(into: "contact", ["email": "n@b", "nick": "al"]) }
            #expect(unique?.code == .constraint)
            let check = try refusal(fixture) { try $0.insert(into: "contact", ["email": "n@b", "age": -1]) }
            #expect(check?.code == .constraint)
            let error = try refusal(fixture) { try $0.insert(into: "contact", ["email": nil, "age": 5]) }
            #expect(error?.message.contains("key column 'email'") == true)
        }
    }

    @Test func unknownTableAndColumn() async throws {
        try await with { fixture in
            let table = try refusal(fixture) { try $0.insert(into: "nothing", ["a": 1]) }
            #expect(table?.message.contains("no table 'nothing'") == true)
            let column = try refusal(fixture) { try $0.insert(into: "company", ["id": 1, "nmae": 2]) }
            #expect(column?.message.contains("no column 'nmae'") == true)
        }
    }
}
