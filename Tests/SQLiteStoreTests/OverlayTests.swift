import FeedModel
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Rows of several shapes for one table: what came last overrules, column by column, and a row counts once.
@Suite struct OverlayTests {
    private let schema = "CREATE TABLE item (id TEXT PRIMARY KEY, name TEXT, size INTEGER, kind TEXT DEFAULT 'plain')"

    @Test func documentOrderDecides() async throws {
        try await StoreFixture.with(schema) { fixture in
            func sync() throws -> MergeCounts {
                try fixture.commit { context in
                    try context.insert(into: "item", ["id": "a", "name": "first"])
                    try context.insert(into: "item", ["id": "a", "name": "second", "size": 2])
                    try context.insert(into: "item", ["id": "b", "name": "B", "size": 1])
                    try context.insert(into: "item", ["id": "a", "name": "third"])
                    try context.insert(into: "item", ["id": "b", "name": "B2"])
                    try context.insert(into: "item", ["id": "b", "name": "B3", "size": 3])
                    try context.insert(into: "item", ["id": "c", "name": "C"])
                    try context.insert(into: "item", ["id": "d", "name": "D", "size": 4])
                }
            }
            let first = try sync()
            #expect(first == counts(inserted: 4, replaced: 2))
            let rows = ["a|third|2|plain", "b|B3|3|plain", "c|C|NULL|plain", "d|D|4|plain"]
            #expect(try fixture.rows("SELECT * FROM item ORDER BY id") == rows)
            #expect(
                try fixture.rows("SELECT key, operation FROM tributary_change ORDER BY key") == [
                    "a|insert", "b|insert", "c|insert", "d|insert",
                ])
            let again = try sync()
            #expect(again == counts(unchanged: 4, replaced: 2))
        }
    }

    @Test func requestsDecideBeforeDocuments() async throws {
        try await StoreFixture.with(schema) { fixture in
            func sync(_ sizes: [Int]) throws -> MergeCounts {
                try fixture.commit([
                    (
                        MergeRule(sync: .mirror),
                        { context in
                            for id in ["a", "b"] {
                                try context.insert(into: "item", ["id": id, "name": "N", "size": 0])
                            }
                        }
                    ),
                    (
                        MergeRule(),
                        { context in
                            for (index, size) in sizes.enumerated() {
                                try context.insert(into: "item", ["id": ["a", "c"][index], "size": size])
                            }
                        }
                    ),
                ])
            }
            let first = try sync([7, 8])
            #expect(first == counts(inserted: 3))
            #expect(try fixture.rows("SELECT id, name, size FROM item ORDER BY id") == ["a|N|7", "b|N|0", "c|NULL|8"])
            let again = try sync([7, 8])
            #expect(again == counts(unchanged: 3))
            let changed = try sync([9])
            #expect(changed == counts(updated: 1, deleted: 1, unchanged: 1))
        }
    }

    /// Neither has all that a row needs.
    @Test func oneShapeHasWhatAnotherLacks() async throws {
        let schema = "CREATE TABLE item (a TEXT, b TEXT, name TEXT NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (a, b))"
        try await StoreFixture.with(schema) { fixture in
            let inserted = try fixture.commit { context in
                try context.insert(into: "item", ["a": "x", "b": "y", "name": "N"])
                try context.insert(into: "item", ["b": "y", "a": "x", "size": 5])
            }
            #expect(inserted == counts(inserted: 1))
            #expect(try fixture.rows("SELECT * FROM item") == ["x|y|N|5"])
        }
    }

    /// `insert` gives values to new rows, and leaves known ones alone.
    @Test(arguments: [false, true]) func otherModes(insertComesFirst: Bool) async throws {
        try await StoreFixture.with(schema) { fixture in
            func sync(_ name: String) throws -> MergeCounts {
                let insert: (MergeRule, (WorkerContext) throws -> Void) = (
                    MergeRule(sync: .insert), { try $0.insert(into: "item", ["id": "a", "name": name, "kind": name]) }
                )
                let upsert: (MergeRule, (WorkerContext) throws -> Void) = (
                    MergeRule(), { try $0.insert(into: "item", ["id": "a", "name": "upserted"]) }
                )
                return try fixture.commit(insertComesFirst ? [insert, upsert] : [upsert, insert])
            }
            let first = try sync("one")
            #expect(first == counts(inserted: 1))
            let second = try sync("two")
            #expect(second == counts(unchanged: 1))
            #expect(try fixture.rows("SELECT * FROM item") == ["a|upserted|NULL|one"])
        }
    }

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
                let staged = try context.rows("SELECT id, name, size FROM staged.item ORDER BY id", limit: 9)
                #expect(
                    staged == [
                        ["id": "a", "name": "second", "size": "2"], ["id": "b", "name": "first", "size": "4"],
                    ])
            }
            #expect(try fixture.rows("SELECT id, name, size FROM item") == ["a|second|2", "b|first|4"])
        }
    }

    /// Rows that are appended have no key, and no mirror takes them for missing ones of its own.
    @Test func aMirrorBesideWhatIsAppended() async throws {
        try await StoreFixture.with("CREATE TABLE log (id INTEGER PRIMARY KEY, line TEXT UNIQUE)") { fixture in
            let merged = try fixture.commit([
                (MergeRule(sync: .mirror, keys: ["log": ["line"]]), { try $0.insert(into: "log", ["line": "a"]) }),
                (MergeRule(sync: .append), { try $0.insert(into: "log", ["line": "b"]) }),
            ])
            #expect(merged == counts(inserted: 2))
        }
    }

    /// Many shapes in a large feed, some of which reach the scratch database before another is known.
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

    @Test func manyShapes() async throws {
        let columns = (0..<6).map { "c\($0)" }
        try await StoreFixture.with("CREATE TABLE wide (id TEXT PRIMARY KEY, \(columns.joined(separator: ", ")))") {
            fixture in
            var model: [String: [String: Int]] = [:]
            var random = SplitMix(seed: 7)
            let filler = String(repeating: "x", count: 300)
            let rows = (0..<4000).map { row -> (String, Int, [Int]) in
                let first = row < 2000 ? 0 : Int.random(in: 0..<6, using: &random)
                return ("\(filler)\(row % 1500)", row, Array(Set([first, (first + row) % 6])))
            }
            for (id, value, written) in rows {
                for column in written { model[id, default: [:]][columns[column]] = value }
            }
            func sync() throws -> MergeCounts {
                try fixture.commit { context in
                    for (id, value, written) in rows {
                        switch written.map({ columns[$0] }).sorted() {
                        case let names where names.count == 1:
                            try context.insert(into: "wide", ["id": id, names[0]: value])
                        case let names:
                            try context.insert(into: "wide", ["id": id, names[0]: value, names[1]: value])
                        }
                    }
                }
            }
            let first = try sync()
            #expect(first.inserted == model.count && first.updated == 0)
            let stored = try fixture.store.reader.read { try Row.fetchAll($0, sql: "SELECT * FROM wide") }
            for row in stored {
                for column in columns { #expect(row[column] == model[row["id"]]?[column]) }
            }
            let again = try sync()
            #expect(again.inserted + again.updated == 0 && again.unchanged == model.count)
        }
    }
}
