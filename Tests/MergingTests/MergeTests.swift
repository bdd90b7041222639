import FeedModel
import Foundation
import GRDB
import TestStores
import TestSupport
import Testing

@testable import FeedStaging
@testable import FeedStores

@Suite(.onEachStore) struct MergeTests {
    private let schema = "CREATE TABLE item (id text PRIMARY KEY, name text, size bigint)"
    private let first = [
        Item(id: "a", name: "A", size: 1), Item(id: "b", name: "B", size: nil), Item(id: "c", name: nil, size: 3),
    ]
    private let second = [
        Item(id: "b", name: "B2", size: 2), Item(id: "c", name: nil, size: 3), Item(id: "d", name: "D", size: 4),
    ]

    @Test(arguments: [
        (SyncMode.insert, MergeCounts(inserted: 1, unchanged: 2), ["a|A|1", "b|B|NULL", "c|NULL|3", "d|D|4"]),
        (.upsert, MergeCounts(inserted: 1, updated: 1, unchanged: 1), ["a|A|1", "b|B2|2", "c|NULL|3", "d|D|4"]),
        (.mirror, MergeCounts(inserted: 1, updated: 1, deleted: 1, unchanged: 1), ["b|B2|2", "c|NULL|3", "d|D|4"]),
    ])
    func modesWithAKey(mode: SyncMode, expected: MergeCounts, rows: [String]) async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            let rule = MergeRule(sync: mode)
            let fromNothing = try fixture.commit(rule) { for item in first { try $0.insert(item) } }
            #expect(fromNothing == MergeCounts(inserted: 3))
            let secondTime = try fixture.commit(rule) { for item in second { try $0.insert(item) } }
            #expect(secondTime == expected)
            #expect(try fixture.rows("SELECT * FROM item ORDER BY id") == rows)
            let thirdTime = try fixture.commit(rule) { for item in second { try $0.insert(item) } }
            #expect(thirdTime.inserted + thirdTime.updated + thirdTime.deleted == 0)
        }
    }

    @Test func theChangelogNamesRowsInOrder() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            let rule = MergeRule(sync: .mirror)
            try fixture.commit(rule) { for item in first.reversed() { try $0.insert(item) } }
            #expect(
                try fixture.rows("SELECT run, key, operation FROM tributary_change ORDER BY id") == [
                    "1|c|insert", "1|b|insert", "1|a|insert",
                ])
            try fixture.commit(rule) { for item in second { try $0.insert(item) } }
            #expect(
                try fixture.rows("SELECT \"table\", key, operation FROM tributary_change WHERE run = 2 ORDER BY id")
                    == [
                        "item|a|delete", "item|b|update", "item|d|insert",
                    ])
        }
    }

    @Test func aDeclaredKeyNeedsAUniqueIndex() async throws {
        let schema = """
            CREATE TABLE page (id INTEGER PRIMARY KEY, url text, title text);
            CREATE UNIQUE INDEX page_url ON page (url)
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            let rule = MergeRule(sync: .upsert, keys: ["page": ["url"]])
            let firstSeen = try fixture.commit(rule) { try $0.insert(into: "page", ["url": "u", "title": "1"]) }
            #expect(firstSeen == MergeCounts(inserted: 1))
            let retitled = try fixture.commit(rule) { try $0.insert(into: "page", ["url": "u", "title": "2"]) }
            #expect(retitled == MergeCounts(updated: 1))
            #expect(try fixture.rows("SELECT * FROM page") == ["1|u|2"])
            #expect(throws: StoreError.self) {
                try fixture.commit(MergeRule(keys: ["page": ["title"]])) { try $0.insert(into: "page", ["title": "t"]) }
            }
        }
    }

    @Test func theLastOfSeveralRowsWithOneKeyCounts() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            let result = try fixture.commit { context in
                for size in 0..<5 { try context.insert(Item(id: "a", name: "n", size: size)) }
                try context.insert(Item(id: "b", name: nil, size: nil))
            }
            #expect(result == MergeCounts(inserted: 2, replaced: 4))
            #expect(try fixture.rows("SELECT * FROM item ORDER BY id") == ["a|n|4", "b|NULL|NULL"])
        }
    }

    @Test func laterRequestsOverruleEarlierOnes() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync() throws -> MergeCounts {
                try fixture.commit([
                    (MergeRule(), { try $0.insert(Item(id: "a", name: "first", size: 1)) }),
                    (MergeRule(), { try $0.insert(Item(id: "a", name: "second", size: 2)) }),
                ])
            }
            let first = try sync()
            #expect(first == MergeCounts(inserted: 1, replaced: 1))
            #expect(try fixture.rows("SELECT * FROM item") == ["a|second|2"])
            let again = try sync()
            #expect(again == MergeCounts(unchanged: 1, replaced: 1))
        }
    }

    @Test func columnsThatARecordLacksAreLeftAlone() async throws {
        let schema =
            "CREATE TABLE item (id text PRIMARY KEY, name text, size bigint, seen text NOT NULL DEFAULT 'new')"
        try await StackFixture.with(schema) { (fixture) async throws in
            try fixture.commit { try $0.insert(Item(id: "a", name: "A", size: 1)) }
            try fixture.commit { try $0.insert(into: "item", ["size": 9, "id": "a"]) }
            #expect(try fixture.rows("SELECT * FROM item") == ["a|A|9|new"])
        }
    }

    @Test func scopeLimitsDeletionsAndFillsItsColumns() async throws {
        let schema = "CREATE TABLE price (shop text, sku text, cents bigint, PRIMARY KEY (shop, sku))"
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ shop: String, _ skus: [String]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror, scope: ["shop": shop])) { context in
                    for sku in skus { try context.insert(into: "price", ["sku": sku, "cents": 5]) }
                }
            }
            #expect(try sync("north", ["1", "2"]) == MergeCounts(inserted: 2))
            #expect(try sync("south", ["1", "2"]) == MergeCounts(inserted: 2))
            #expect(try sync("north", ["2", "3"]) == MergeCounts(inserted: 1, deleted: 1, unchanged: 1))
            #expect(
                try fixture.rows("SELECT shop, sku FROM price ORDER BY 1, 2") == [
                    "north|2", "north|3", "south|1", "south|2",
                ])
            #expect(
                try fixture.rows("SELECT key FROM tributary_change WHERE operation = 'delete'") == ["[\"north\",\"1\"]"]
            )
        }
    }

    /// A window keeps rows below the smallest value of the feed, in the table itself and in its children.
    @Test func aWindowLimitsDeletions() async throws {
        let schema = """
            CREATE TABLE post (id text PRIMARY KEY, at date);
            CREATE TABLE comment (id text PRIMARY KEY, post text REFERENCES post, body text)
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ posts: [(String, String)], _ comments: [(String, String)]) throws -> MergeCounts {
                try fixture.commit([
                    (
                        MergeRule(sync: .mirror, window: MirrorWindow(column: "at")),
                        { for post in posts { try $0.insert(into: "post", ["id": post.0, "at": post.1]) } }
                    ),
                    (
                        MergeRule(
                            sync: .mirror,
                            window: MirrorWindow(column: "at", parents: [.init(column: "post", table: "post")])),
                        { for row in comments { try $0.insert(into: "comment", ["id": row.0, "post": row.1]) } }
                    ),
                ])
            }
            _ = try sync(
                [("a", "2024-01-01"), ("b", "2024-02-01"), ("c", "2024-03-01")],
                [("1", "a"), ("2", "b"), ("3", "c"), ("4", "c")])
            let result = try sync([("c", "2024-02-15"), ("d", "2024-04-01")], [("3", "c")])
            // The comment 4 is gone; a and b are older than the feed.
            #expect(result == MergeCounts(inserted: 1, updated: 1, deleted: 1, unchanged: 1))
            let next = try sync([("c", "2024-02-15"), ("e", "2024-04-02")], [("3", "c")])
            #expect(next == MergeCounts(inserted: 1, deleted: 1, unchanged: 2))
            #expect(try fixture.rows("SELECT id FROM post ORDER BY 1") == ["a", "b", "c", "e"])
            #expect(try fixture.rows("SELECT id FROM comment ORDER BY 1") == ["1", "2", "3"])
        }
    }

    @Test func aMirrorWithoutRowsForATable() async throws {
        try await StackFixture.with(schema + "; CREATE TABLE other (id text PRIMARY KEY)") { (fixture) async throws in
            try fixture.commit(MergeRule(sync: .mirror)) { context in
                try context.insert(into: "other", ["id": "o"])
                try context.insert(Item(id: "a"))
            }
            let result = try fixture.commit(
                [(MergeRule(sync: .mirror), { try $0.insert(into: "other", ["id": "o"]) })],
                mirrors: [MirroredRows(table: "item", scope: [:]), MirroredRows(table: "other", scope: [:])])
            #expect(result == MergeCounts(deleted: 1, unchanged: 1))
        }
    }

    /// A row that goes makes room for one that comes, and a parent may come after its child.
    @Test func orderWithinACommit() async throws {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY, slug text UNIQUE);
            CREATE TABLE child (id text PRIMARY KEY, parent text NOT NULL REFERENCES parent(id) ON DELETE CASCADE)
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ parent: String) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    try context.insert(into: "child", ["id": "c", "parent": parent])
                    try context.insert(into: "parent", ["id": parent, "slug": "same"])
                }
            }
            #expect(try sync("p1") == MergeCounts(inserted: 2))
            // The child moves to its new parent before the cascade could take it along.
            #expect(try sync("p2") == MergeCounts(inserted: 1, updated: 1, deleted: 1))
            #expect(try fixture.rows("SELECT * FROM child, parent") == ["c|p2|p2|same"])
        }
    }

    /// A row comes to refer to a new one of its own table.
    @Test func rowsThatReferToNewOnesOfTheirTable() async throws {
        try await StackFixture.with("CREATE TABLE person (id text PRIMARY KEY, boss text REFERENCES person)") {
            (fixture) async throws in
            func sync(_ people: [(String, String?)]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for person in people { try context.insert(into: "person", ["id": person.0, "boss": person.1]) }
                }
            }
            #expect(try sync([("a", "b"), ("b", nil)]) == MergeCounts(inserted: 2))
            #expect(try sync([("a", "c"), ("c", nil)]) == MergeCounts(inserted: 1, updated: 1, deleted: 1))
        }
    }

    /// Enough rows for several batches, which are then merged in the order of their keys.
    @Test func manyRows() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            let filler = String(repeating: "x", count: 400)
            func sync(_ range: Range<Int>, _ suffix: String) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for i in range { try context.insert(Item(id: "\(i % 7)-\(i)", name: filler + suffix, size: i)) }
                }
            }
            #expect(try sync(0..<8_000, "") == MergeCounts(inserted: 8_000))
            #expect(try sync(0..<8_000, "") == MergeCounts(unchanged: 8_000))
            let changed = try sync(0..<8_000, "y")
            #expect(changed == MergeCounts(updated: 8_000))
            let moved = try sync(100..<8_100, "y")
            #expect(moved == MergeCounts(inserted: 100, deleted: 100, unchanged: 7_900))
            #expect(try fixture.rows("SELECT count(*), min(size), max(size) FROM item") == ["8000|100|8099"])
        }
    }

    /// Names match in any letters.
    @Test func oddNames() async throws {
        let schema = "CREATE TABLE \"Odd \"\"one\" (id text PRIMARY KEY, rowid bigint, \"order\" text)"
        try await StackFixture.with(schema) { (fixture) async throws in
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
            #expect(first == MergeCounts(inserted: 2))
            let second = try sync(["a"])
            #expect(second == MergeCounts(deleted: 1, unchanged: 1))
            #expect(try fixture.rows("SELECT id FROM \"Odd \"\"one\"") == ["a"])
        }
    }

    @Test func compositeKeysMayHoldBlobs() async throws {
        try await StackFixture.with("CREATE TABLE t (u BLOB, n bigint, PRIMARY KEY (u, n))") {
            (fixture) async throws in
            let result = try fixture.commit { try $0.insert(into: "t", ["u": Data([1, 255]), "n": 1]) }
            #expect(result == MergeCounts(inserted: 1))
            #expect(try fixture.rows("SELECT key FROM tributary_change") == ["[\"01FF\",1]"])
        }
    }

    @Test func keysInAnyCase() async throws {
        let schema = "CREATE TABLE page (id INTEGER PRIMARY KEY, url text UNIQUE, title text, shop text)"
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ urls: [String]) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror, scope: ["SHOP": "n"], keys: ["page": ["URL"]])) { context in
                    for url in urls { try context.insert(into: "PAGE", ["Url": url, "TITLE": "t"]) }
                }
            }
            let first = try sync(["a", "b"])
            #expect(first == MergeCounts(inserted: 2))
            let second = try sync(["b", "c"])
            #expect(second == MergeCounts(inserted: 1, deleted: 1, unchanged: 1))
            #expect(try fixture.rows("SELECT url, shop FROM page ORDER BY url") == ["b|n", "c|n"])
        }
    }

    /// Each request mirrors a scope of its own, and may take a row that was another's.
    @Test(arguments: [3, 40]) func scopesOfManyRequests(requests: Int) async throws {
        let schema = "CREATE TABLE price (sku text PRIMARY KEY, shop text, cents bigint)"
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ skus: [[String]]) throws -> MergeCounts {
                try fixture.commit(
                    skus.enumerated().map { shop, skus in
                        (
                            MergeRule(sync: .mirror, scope: ["shop": "shop \(shop)"]),
                            { for sku in skus { try $0.insert(into: "price", ["sku": sku, "cents": 5]) } }
                        )
                    })
            }
            let first = try sync((0..<requests).map { ["a\($0)", "b\($0)"] })
            #expect(first == MergeCounts(inserted: 2 * requests))
            // Of each shop, the one goes, and the other comes to the next.
            let second = try sync((0..<requests).map { ["b\(($0 + 1) % requests)"] })
            #expect(second == MergeCounts(updated: requests, deleted: requests))
            #expect(try fixture.rows("SELECT count(*) FROM price") == ["\(requests)"])
            let third = try sync((0..<requests).map { ["b\(($0 + 1) % requests)"] })
            #expect(third == MergeCounts(unchanged: requests))
        }
    }

    /// A generated model of inserts, updates and deletions: the store always equals the feed.
    @Test(arguments: 0..<4)
    func mirrorsWhateverTheFeedHas(seed: UInt64) async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            var random = SplitMix64(seed: seed)
            for _ in 0..<6 {
                var feed: [String: Item] = [:]
                for _ in 0..<Int.random(in: 1...60, using: &random) {
                    let id = String(Int.random(in: 0..<40, using: &random))
                    let name = [nil, "", "é'\"", "x", "1"].randomElement(using: &random)!
                    feed[id] = Item(id: id, name: name, size: [nil, 0, -1, .max].randomElement(using: &random)!)
                }
                let items = feed.values.shuffled(using: &random)
                try fixture.commit(MergeRule(sync: .mirror)) { for item in items { try $0.insert(item) } }
                let stored = try fixture.rows("SELECT id, name, size FROM item").sorted()
                let expected = items.map { "\($0.id)|\($0.name ?? "NULL")|\($0.size.map(String.init) ?? "NULL")" }
                #expect(stored == expected.sorted())
            }
            let changes = try fixture.rows(
                "SELECT sum(CASE operation WHEN 'insert' THEN 1 WHEN 'delete' THEN -1 ELSE 0 END) FROM tributary_change"
            )
            let count = try fixture.rows("SELECT count(*) FROM item")
            #expect(changes == count)
        }
    }
}
