import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB
import TestSupport
import Testing

@Suite struct MergeTests {
    @Test func tablesWithoutRowIDs() async throws {
        let schema = "CREATE TABLE pair (a TEXT, b TEXT, v INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID"
        try await StoreFixture.with(schema) { (fixture) throws in
            func sync(_ rows: [(String, String, Int)]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for row in rows { try context.insert(into: "pair", ["a": row.0, "b": row.1, "v": row.2]) }
                }
            }
            #expect(try sync([("x", "1", 1), ("x", "2", 2)]) == MergeCounts(inserted: 2))
            #expect(try sync([("x", "2", 3), ("y", "1", 1)]) == MergeCounts(inserted: 1, updated: 1, deleted: 1))
            #expect(try fixture.rows("SELECT * FROM pair ORDER BY a, b") == ["x|2|3", "y|1|1"])
        }
    }

    @Test func tablesWithoutRowIDsAndTheirKeysCollation() async throws {
        let schema = "CREATE TABLE word (w TEXT, v TEXT, PRIMARY KEY (w COLLATE NOCASE)) WITHOUT ROWID"
        try await StoreFixture.with(schema) { fixture in
            for (word, value) in [("abc", "1"), ("ABC", "2")] {
                _ = try fixture.commit { try $0.insert(into: "word", ["w": word, "v": value]) }
            }
            let rows = try fixture.rows("SELECT * FROM word")
            #expect(rows == ["abc|2"])
        }
    }

    /// The key's own collation says which rows are the same; any difference in the bytes of a value is one.
    @Test func collationsAndTypes() async throws {
        let schema = "CREATE TABLE word (w TEXT COLLATE NOCASE PRIMARY KEY, v TEXT COLLATE NOCASE, n INTEGER, r REAL)"
        try await StoreFixture.with(schema) { fixture in
            let firstSeen = try fixture.commit { try $0.insert(into: "word", ["w": "Go", "v": "x", "n": "5", "r": 1]) }
            #expect(firstSeen == MergeCounts(inserted: 1))
            let writtenOtherwise = try fixture.commit {
                try $0.insert(into: "word", ["w": "GO", "v": "x", "n": 5, "r": "1.0"])
            }
            #expect(writtenOtherwise == MergeCounts(unchanged: 1))
            let changed = try fixture.commit { try $0.insert(into: "word", ["w": "go", "v": "X", "n": 5, "r": 1]) }
            #expect(changed == MergeCounts(updated: 1))
            let both = try fixture.commit { context in
                try context.insert(into: "word", ["w": "Up", "v": "1", "n": 1, "r": 1])
                try context.insert(into: "word", ["w": "UP", "v": "2", "n": 2, "r": 2])
            }
            #expect(both == MergeCounts(inserted: 1, replaced: 1))
        }
    }

    /// Keys that are equal to the index and different in their bytes: the last one counts, in a large feed, too.
    @Test func theLastCountsInALargeFeedToo() async throws {
        let schema = "CREATE TABLE item (id TEXT COLLATE NOCASE PRIMARY KEY, name TEXT, size INTEGER)"
        try await StoreFixture.with(schema) { fixture in
            let filler = String(repeating: "x", count: 500)
            try fixture.commit { context in
                for i in 0..<10_000 { try context.insert(Item(id: "key\(i)", name: filler, size: 1)) }
                for i in 0..<10_000 { try context.insert(Item(id: "KEY\(i)", name: filler, size: 2)) }
            }
            #expect(try fixture.rows("SELECT count(*), min(size) FROM item") == ["10000|2"])
        }
    }
}
