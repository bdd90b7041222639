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

    @Test func notNullInAColumnThatTheFeedLacks() async throws {
        try await with { fixture in
            let error = try refusal(fixture) { try $0.insert(into: "company", ["id": "nameless"]) }
            #expect(error?.code == .constraint && error?.message.contains("column 'name' must not be NULL") == true)
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
