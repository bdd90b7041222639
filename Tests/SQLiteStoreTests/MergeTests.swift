import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB
import TestSupport
import Testing

@Suite struct MergeTests {
    let schema = "CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, name TEXT, size INTEGER)"

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

    @Test func smallFeedsKeepTheirOrder() async throws {
        try await StoreFixture.with("CREATE TABLE e (id INTEGER PRIMARY KEY, k TEXT UNIQUE)") { fixture in
            try fixture.commit(MergeRule(keys: ["e": ["k"]])) { context in
                for key in ["z", "m", "a", "q"] { try context.insert(into: "e", ["k": key]) }
            }
            #expect(try fixture.rows("SELECT k FROM e ORDER BY id") == ["z", "m", "a", "q"])
        }
    }

    /// A generated model of inserts, updates and deletions: the store always equals the feed.
    @Test(arguments: 0..<8)
    func mirrorsWhateverTheFeedHas(seed: UInt64) async throws {
        try await StoreFixture.with(schema) { fixture in
            var random = SplitMix(seed: seed)
            for _ in 0..<6 {
                var feed: [String: Item] = [:]
                for _ in 0..<Int.random(in: 1...60, using: &random) {
                    let id = String(Int.random(in: 0..<40, using: &random))
                    let name = [nil, "", "é'\"", "x", "1"].randomElement(using: &random)!
                    feed[id] = Item(id: id, name: name, size: [nil, 0, -1, .max].randomElement(using: &random)!)
                }
                let items = feed.values.shuffled(using: &random)
                try fixture.commit(MergeRule(sync: .mirror)) { for item in items { try $0.insert(item) } }
                let stored = try fixture.store.reader.read { try Item.fetchAll($0) }
                #expect(Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) }) == feed)
            }
            let changes = try fixture.rows(
                "SELECT sum(CASE operation WHEN 'insert' THEN 1 WHEN 'delete' THEN -1 ELSE 0 END) FROM tributary_change"
            )
            let count = try fixture.rows("SELECT count(*) FROM item")
            #expect(changes == count)
        }
    }
}

/// A small generator whose numbers depend on its seed only (Steele, Lea and Flood, 2014).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
