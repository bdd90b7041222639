import FeedModel
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Rows of several shapes for one table: what came last overrules, column by column, and a row counts once.
@Suite struct OverlayTests {
    private let schema = "CREATE TABLE item (id TEXT PRIMARY KEY, name TEXT, size INTEGER, kind TEXT DEFAULT 'plain')"

    /// What a parser is answered is what will be in the store.
    @Test func parsersSeeIt() async throws {
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit { try $0.insert(Item(id: "a", name: "stored", size: 1)) }
            try fixture.commit { context in
                try context.insert(into: "item", ["id": "a", "size": 2])
                try context.insert(into: "item", ["id": "b", "name": "first", "size": 3])
                try context.insert(into: "item", ["id": "a", "name": "second"])
                try context.insert(into: "item", ["id": "b", "size": 4])
                let rows = try context.fetchAll(Item.self).sorted { $0.id < $1.id }
                #expect(rows == [Item(id: "a", name: "second", size: 2), Item(id: "b", name: "first", size: 4)])
                let staged = try context.rows("SELECT id, name, size FROM staged.item ORDER BY id", limit: 9).rows
                #expect(
                    staged == [
                        ["id": "a", "name": "second", "size": "2"], ["id": "b", "name": "first", "size": "4"],
                    ])
            }
            #expect(try fixture.rows("SELECT id, name, size FROM item") == ["a|second|2", "b|first|4"])
        }
    }

    /// Each shape has a batch of its own, and together they are more than memory holds.
    @Test func moreShapesOfOneKeyThanMemoryHolds() async throws {
        let columns = (0..<150).map { "c\($0)" }
        try await StoreFixture.with("CREATE TABLE wide (id TEXT PRIMARY KEY, \(columns.joined(separator: ", ")))") {
            fixture in
            func sync() throws -> MergeCounts {
                try fixture.commit { context in
                    for (number, column) in columns.enumerated() {
                        try context.insert(into: "wide", ["id": "1", column: number])
                    }
                }
            }
            #expect(try sync().inserted == 1)
            #expect(try sync().unchanged == 1)
            let row = try #require(try fixture.store.reader.read { try Row.fetchOne($0, sql: "SELECT * FROM wide") })
            for (number, column) in columns.enumerated() { #expect(row[column] == number) }
        }
    }
}
