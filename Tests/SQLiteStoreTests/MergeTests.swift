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
    let first = [
        Item(id: "a", name: "A", size: 1), Item(id: "b", name: "B", size: nil), Item(id: "c", name: nil, size: 3),
    ]
    let second = [
        Item(id: "b", name: "B2", size: 2), Item(id: "c", name: nil, size: 3), Item(id: "d", name: "D", size: 4),
    ]

    @Test(arguments: [
        (SyncMode.insert, counts(inserted: 1, unchanged: 2), ["a|A|1", "b|B|NULL", "c|NULL|3", "d|D|4"]),
        (.upsert, counts(inserted: 1, updated: 1, unchanged: 1), ["a|A|1", "b|B2|2", "c|NULL|3", "d|D|4"]),
        (.mirror, counts(inserted: 1, updated: 1, deleted: 1, unchanged: 1), ["b|B2|2", "c|NULL|3", "d|D|4"]),
    ])
    func modesWithAKey(mode: SyncMode, expected: MergeCounts, rows: [String]) async throws {
        try await StoreFixture.with(schema) { fixture in
            let rule = MergeRule(sync: mode)
            let fromNothing = try fixture.commit(rule) { for item in first { try $0.insert(item) } }
            #expect(fromNothing == counts(inserted: 3))
            let secondTime = try fixture.commit(rule) { for item in second { try $0.insert(item) } }
            #expect(secondTime == expected)
            #expect(try fixture.rows("SELECT * FROM item ORDER BY id") == rows)
            let thirdTime = try fixture.commit(rule) { for item in second { try $0.insert(item) } }
            #expect(thirdTime.inserted + thirdTime.updated + thirdTime.deleted == 0)
        }
    }

    @Test func appendInsertsAgain() async throws {
        try await StoreFixture.with("CREATE TABLE log (line TEXT, level INTEGER)") { fixture in
            for _ in 0..<2 {
                let counts = try fixture.commit(MergeRule(sync: .append)) { context in
                    try context.insert(into: "log", ["line": "x", "level": 1])
                    try context.insert(into: "log", ["line": "x", "level": 1])
                }
                #expect(counts.inserted == 2)
            }
            #expect(try fixture.rows("SELECT * FROM log").count == 4)
            #expect(
                try fixture.rows("SELECT operation, key FROM tributary_change") == [
                    "insert|1", "insert|2", "insert|3", "insert|4",
                ])
        }
    }

    /// Without a key, a row is itself, apart from a generated primary key: the same data changes no row and no row id.
    @Test func keylessRowsKeepTheirRowIDs() async throws {
        let schema = "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, rank INTEGER)"
        try await StoreFixture.with(schema) { fixture in
            func sync(_ notes: [(String?, Int?)]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for note in notes { try context.insert(into: "note", ["id": nil, "text": note.0, "rank": note.1]) }
                }
            }
            #expect(try sync([("x", 1), (nil, 2), ("y", nil), ("x", 1)]) == counts(inserted: 3, replaced: 1))
            let before = try fixture.rows("SELECT * FROM note")
            #expect(try sync([("y", nil), ("x", 1), (nil, 2)]) == counts(unchanged: 3))
            #expect(try fixture.rows("SELECT * FROM note") == before)
            #expect(try sync([("y", nil), ("z", 1)]) == counts(inserted: 1, deleted: 2, unchanged: 1))
        }
    }

    @Test func aDeclaredKeyNeedsAUniqueIndex() async throws {
        let schema = """
            CREATE TABLE page (id INTEGER PRIMARY KEY, url TEXT, title TEXT);
            CREATE UNIQUE INDEX page_url ON page (url)
            """
        try await StoreFixture.with(schema) { fixture in
            let rule = MergeRule(sync: .upsert, keys: ["page": ["url"]])
            let firstSeen = try fixture.commit(rule) { try $0.insert(into: "page", ["url": "u", "title": "1"]) }
            #expect(firstSeen == counts(inserted: 1))
            let retitled = try fixture.commit(rule) { try $0.insert(into: "page", ["url": "u", "title": "2"]) }
            #expect(retitled == counts(updated: 1))
            #expect(try fixture.rows("SELECT * FROM page") == ["1|u|2"])
            #expect(throws: StoreError.self) {
                try fixture.commit(MergeRule(keys: ["page": ["title"]])) { try $0.insert(into: "page", ["title": "t"]) }
            }
        }
    }

    @Test func theLastOfSeveralRowsWithOneKeyCounts() async throws {
        try await StoreFixture.with(schema) { fixture in
            let result = try fixture.commit { context in
                for size in 0..<5 { try context.insert(Item(id: "a", name: "n", size: size)) }
                try context.insert(Item(id: "b", name: nil, size: nil))
            }
            #expect(result == counts(inserted: 2, replaced: 4))
            #expect(try fixture.rows("SELECT * FROM item ORDER BY id") == ["a|n|4", "b|NULL|NULL"])
        }
    }

    /// A later request of a stack overrules an earlier one, and a repeated run changes nothing.
    @Test func laterRequestsOverruleEarlierOnes() async throws {
        try await StoreFixture.with(schema) { fixture in
            func sync() throws -> MergeCounts {
                try fixture.commit([
                    (MergeRule(), { try $0.insert(Item(id: "a", name: "first", size: 1)) }),
                    (MergeRule(), { try $0.insert(Item(id: "a", name: "second", size: 2)) }),
                ])
            }
            let first = try sync()
            #expect(first == counts(inserted: 1, replaced: 1))
            #expect(try fixture.rows("SELECT * FROM item") == ["a|second|2"])
            let again = try sync()
            #expect(again == counts(unchanged: 1, replaced: 1))
        }
    }

    @Test func columnsThatARecordLacksAreLeftAlone() async throws {
        let schema =
            "CREATE TABLE item (id TEXT PRIMARY KEY, name TEXT, size INTEGER, seen TEXT NOT NULL DEFAULT 'new')"
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit { try $0.insert(Item(id: "a", name: "A", size: 1)) }
            try fixture.commit { try $0.insert(into: "item", ["size": 9, "id": "a"]) }
            #expect(try fixture.rows("SELECT * FROM item") == ["a|A|9|new"])
        }
    }

    @Test func scopeLimitsDeletionsAndFillsItsColumns() async throws {
        let schema = "CREATE TABLE price (shop TEXT, sku TEXT, cents INTEGER, PRIMARY KEY (shop, sku))"
        try await StoreFixture.with(schema) { (fixture) throws in
            func sync(_ shop: String, _ skus: [String]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror, scope: ["shop": shop])) { context in
                    for sku in skus { try context.insert(into: "price", ["sku": sku, "cents": 5]) }
                }
            }
            #expect(try sync("north", ["1", "2"]) == counts(inserted: 2))
            #expect(try sync("south", ["1", "2"]) == counts(inserted: 2))
            #expect(try sync("north", ["2", "3"]) == counts(inserted: 1, deleted: 1, unchanged: 1))
            #expect(
                try fixture.rows("SELECT shop, sku FROM price ORDER BY 1, 2") == [
                    "north|2", "north|3", "south|1", "south|2",
                ])
            #expect(
                try fixture.rows("SELECT key FROM tributary_change WHERE operation = 'delete'") == ["[\"north\",\"1\"]"]
            )
        }
    }

    @Test func tablesWithoutRowIDs() async throws {
        let schema = "CREATE TABLE pair (a TEXT, b TEXT, v INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID"
        try await StoreFixture.with(schema) { (fixture) throws in
            func sync(_ rows: [(String, String, Int)]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for row in rows { try context.insert(into: "pair", ["a": row.0, "b": row.1, "v": row.2]) }
                }
            }
            #expect(try sync([("x", "1", 1), ("x", "2", 2)]) == counts(inserted: 2))
            #expect(try sync([("x", "2", 3), ("y", "1", 1)]) == counts(inserted: 1, updated: 1, deleted: 1))
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
            #expect(firstSeen == counts(inserted: 1))
            let writtenOtherwise = try fixture.commit {
                try $0.insert(into: "word", ["w": "GO", "v": "x", "n": 5, "r": "1.0"])
            }
            #expect(writtenOtherwise == counts(unchanged: 1))
            let changed = try fixture.commit { try $0.insert(into: "word", ["w": "go", "v": "X", "n": 5, "r": 1]) }
            #expect(changed == counts(updated: 1))
            let both = try fixture.commit { context in
                try context.insert(into: "word", ["w": "Up", "v": "1", "n": 1, "r": 1])
                try context.insert(into: "word", ["w": "UP", "v": "2", "n": 2, "r": 2])
            }
            #expect(both == counts(inserted: 1, replaced: 1))
        }
    }

    /// A row that goes makes room for one that comes, and a parent may come after its child.
    @Test func orderWithinACommit() async throws {
        let schema = """
            CREATE TABLE parent (id TEXT PRIMARY KEY, slug TEXT UNIQUE);
            CREATE TABLE child (id TEXT PRIMARY KEY, parent TEXT NOT NULL REFERENCES parent(id) ON DELETE CASCADE)
            """
        try await StoreFixture.with(schema) { (fixture) throws in
            func sync(_ parent: String) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    try context.insert(into: "child", ["id": "c", "parent": parent])
                    try context.insert(into: "parent", ["id": parent, "slug": "same"])
                }
            }
            #expect(try sync("p1") == counts(inserted: 2))
            // The child moves to its new parent before the cascade could take it along.
            #expect(try sync("p2") == counts(inserted: 1, updated: 1, deleted: 1))
            #expect(try fixture.rows("SELECT * FROM child, parent") == ["c|p2|p2|same"])
        }
    }

    /// Enough rows for several batches, which are then merged in the order of their keys.
    @Test func manyRows() async throws {
        try await StoreFixture.with(schema) { fixture in
            let filler = String(repeating: "x", count: 400)
            func sync(_ range: Range<Int>, _ suffix: String) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for i in range { try context.insert(Item(id: "\(i % 7)-\(i)", name: filler + suffix, size: i)) }
                }
            }
            #expect(try sync(0..<30_000, "") == counts(inserted: 30_000))
            #expect(try sync(0..<30_000, "") == counts(unchanged: 30_000))
            let changed = try sync(0..<30_000, "y")
            #expect(changed == counts(updated: 30_000))
            let moved = try sync(100..<30_100, "y")
            #expect(moved == counts(inserted: 100, deleted: 100, unchanged: 29_900))
            #expect(
                try fixture.rows("SELECT count(*), min(size), max(size), sum(size) FROM item") == [
                    "30000|100|30099|452985000"
                ])
        }
    }

    /// Names match in any letters, and a column may be called `rowid`.
    @Test func oddNames() async throws {
        let schema = "CREATE TABLE \"Odd \"\"one\" (id TEXT PRIMARY KEY, rowid INTEGER, \"order\" TEXT)"
        try await StoreFixture.with(schema) { fixture in
            func sync(_ ids: [String]) throws -> MergeCounts {
                try fixture.commit(
                    [
                        (
                            MergeRule(sync: .mirror),
                            { context in
                                for id in ids {
                                    try context.insert(into: "odd \"ONE", ["ID": id, "rowid": 1, "Order": "x"])
                                }
                            }
                        )
                    ], mirrors: [MirroredRows(table: "ODD \"one", scope: [:])])
            }
            let first = try sync(["a", "b"])
            #expect(first == counts(inserted: 2))
            let second = try sync(["a"])
            #expect(second == counts(deleted: 1, unchanged: 1))
            #expect(try fixture.rows("SELECT id FROM \"Odd \"\"one\"") == ["a"])
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

    @Test func compositeKeysMayHoldBlobs() async throws {
        try await StoreFixture.with("CREATE TABLE t (u BLOB, n INTEGER, PRIMARY KEY (u, n))") { fixture in
            let result = try fixture.commit { try $0.insert(into: "t", ["u": Data([1, 255]), "n": 1]) }
            #expect(result == counts(inserted: 1))
            #expect(try fixture.rows("SELECT key FROM tributary_change") == ["[\"01FF\",1]"])
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

    @Test func aMirrorWithoutRowsForATable() async throws {
        try await StoreFixture.with(schema + "; CREATE TABLE other (id TEXT PRIMARY KEY)") { fixture in
            try fixture.commit(MergeRule(sync: .mirror)) { context in
                try context.insert(into: "other", ["id": "o"])
                try context.insert(Item(id: "a"))
            }
            let result = try fixture.commit(
                [(MergeRule(sync: .mirror), { try $0.insert(into: "other", ["id": "o"]) })],
                mirrors: [MirroredRows(table: "item", scope: [:]), MirroredRows(table: "other", scope: [:])])
            #expect(result == counts(deleted: 1, unchanged: 1))
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
