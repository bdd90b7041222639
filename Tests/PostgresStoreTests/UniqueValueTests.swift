import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore

/// Values of types that SQLite has not, which pass from row to row within one commit.
@Suite struct UniqueValueTests {
    @Test(arguments: ["uuid", "date", "timestamptz", "bytea"]) func otherTypes(type: String) async throws {
        try await MergeFixture.with("CREATE TABLE t (id text PRIMARY KEY, slot \(type) UNIQUE)") {
            (fixture) async throws in
            let values: [any DatabaseValueConvertible] =
                switch type {
                case "uuid": [UUID(), UUID()]
                case "bytea": [Data([0]), Data()]
                default: ["2024-01-01", "2024-01-02"]
                }
            func sync(_ first: Int, _ second: Int) throws -> MergeCounts {
                try fixture.commit { context in
                    try context.insert(into: "t", ["id": "a", "slot": values[first]])
                    try context.insert(into: "t", ["id": "b", "slot": values[second]])
                }
            }
            #expect(try sync(0, 1) == MergeCounts(inserted: 2))
            #expect(try sync(1, 0) == MergeCounts(updated: 2))
            #expect(try sync(1, 0) == MergeCounts(unchanged: 2))
        }
    }

    /// A column that is NOT NULL needs a constraint that is checked at the commit.
    @Test(arguments: ["boolean", "mood", "text CHECK (slot IN ('true', 'false'))"])
    func columnsThatTakeNoNULL(type: String) async throws {
        for option in ["UNIQUE NOT NULL", "UNIQUE", "UNIQUE DEFERRABLE INITIALLY DEFERRED NOT NULL"] {
            let schema = """
                CREATE TYPE mood AS ENUM ('true', 'false');
                CREATE TABLE t (id text PRIMARY KEY, slot \(type) \(option))
                """
            try await MergeFixture.with(schema) { (fixture) async throws in
                func sync(_ first: String, _ second: String) throws -> MergeCounts {
                    try fixture.commit { context in
                        try context.insert(into: "t", ["id": "a", "slot": first])
                        try context.insert(into: "t", ["id": "b", "slot": second])
                    }
                }
                #expect(try sync("true", "false") == MergeCounts(inserted: 2))
                if option == "UNIQUE NOT NULL" {
                    let error = #expect(throws: StoreError.self) { try sync("false", "true") }
                    #expect(error?.message.contains("duplicate key value") == true)
                    #expect(error?.message.contains("column 'slot' cannot pass") == true)
                    #expect(try sync("true", "false") == MergeCounts(unchanged: 2))
                } else {
                    #expect(try sync("false", "true") == MergeCounts(updated: 2))
                }
            }
        }
    }
}
