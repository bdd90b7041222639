import FeedModel
import Foundation
import GRDB
import TestStores
import Testing

@testable import FeedStaging
@testable import FeedStores

/// Rows without a key.
@Suite(.onEachStore) struct KeylessRowTests {
    @Test func appendInsertsAgain() async throws {
        try await StackFixture.with("CREATE TABLE log (line text, level bigint)") { (fixture) async throws in
            for _ in 0..<2 {
                let counts = try fixture.commit(MergeRule(sync: .append)) { context in
                    try context.insert(into: "log", ["line": "x", "level": 1])
                    try context.insert(into: "log", ["line": "x", "level": 1])
                }
                #expect(counts.inserted == 2)
            }
            #expect(try fixture.rows("SELECT * FROM log").count == 4)
            // They are named by their places.
            let place = StoreKind.current == .sqlite ? "rowid" : "ctid::text"
            let logged =
                "SELECT operation, count(*) FROM tributary_change WHERE key IN (SELECT \(place) FROM log) GROUP BY 1"
            #expect(try fixture.rows(logged) == ["insert|4"])
        }
    }

    /// Without a key, a row is itself, apart from a generated primary key: the same data changes no row and no place.
    @Test(arguments: ["id INTEGER PRIMARY KEY, ", ""]) func keylessRowsStay(key: String) async throws {
        let schema = StoreKind.current.sql("CREATE TABLE note (\(key)text text, rank bigint)")
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ notes: [(String?, Int?)]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for note in notes { try context.insert(into: "note", ["text": note.0, "rank": note.1]) }
                }
            }
            #expect(try sync([("x", 1), (nil, 2), ("y", nil), ("x", 1)]) == MergeCounts(inserted: 3, replaced: 1))
            let place = StoreKind.current == .sqlite ? "rowid" : "ctid"
            let before = try fixture.rows("SELECT \(place), text, rank FROM note ORDER BY 1")
            #expect(try sync([("y", nil), ("x", 1), (nil, 2)]) == MergeCounts(unchanged: 3))
            #expect(try fixture.rows("SELECT \(place), text, rank FROM note ORDER BY 1") == before)
            #expect(try sync([("y", nil), ("z", 1)]) == MergeCounts(inserted: 1, deleted: 2, unchanged: 1))
        }
    }
}
