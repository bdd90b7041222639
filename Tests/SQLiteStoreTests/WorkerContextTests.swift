import FeedModel
import Foundation
import GRDB
import TestSupport
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

@Suite struct WorkerContextTests {
    let schema = "CREATE TABLE item (id TEXT PRIMARY KEY, name TEXT, size INTEGER)"

    @Test func stagedRowsComeBeforeTheStores() async throws {
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit { context in
                try context.insert(Item(id: "a", name: "old", size: 1))
                try context.insert(Item(id: "b", name: "kept", size: 2))
            }
            try fixture.commit { context in
                #expect(try context.fetchOne(Item.self, key: "a")?.name == "old")
                #expect(try !context.exists(Item.self, key: "c"))
                try context.insert(Item(id: "a", name: "new", size: 9))
                try context.insert(Item(id: "c", name: "newer", size: 3))
                #expect(try context.fetchOne(Item.self, key: "a") == Item(id: "a", name: "new", size: 9))
                #expect(try context.fetchOne(Item.self, key: ["name": "kept"])?.id == "b")
                #expect(try context.exists(Item.self, key: "c"))
                #expect(try context.fetchAll(Item.self).map(\.id).sorted() == ["a", "b", "c"])
                #expect(
                    try context.fetchAll(Item.filter(Column("size") > 2).order(Column("id"))).map(\.name) == [
                        "new", "newer",
                    ])
                let hasOld = try context.exists(Item.filter(Column("name") == "old"))
                #expect(!hasOld)
                try context.insert(into: "item", ["id": "b", "size": 7])
                #expect(try context.fetchOne(Item.self, key: "b") == Item(id: "b", name: "kept", size: 7))
            }
        }
    }

    /// A record that encodes itself for GRDB is taken at its word.
    @Test func recordsOfEveryKind() async throws {
        struct Shouting: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "item"
            var id: String
            var name: String
            func encode(to container: inout PersistenceContainer) {
                container["id"] = id
                container["name"] = name.uppercased()
            }
        }
        struct Plain: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "item"
            var id: String
            var size: Int?
        }
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit { context in
                try context.insert(Shouting(id: "s", name: "loud"))
                try context.insert(Plain(id: "p", size: 4))
            }
            #expect(try fixture.rows("SELECT * FROM item ORDER BY id") == ["p|NULL|4", "s|LOUD|NULL"])
        }
    }

    @Test func feedRecordsAreStoredAsGRDBWould() async throws {
        struct Everything: FeedRecord {
            enum Kind: String, Codable { case good }
            static let databaseTableName = "everything"
            var id: Int64?
            var text: String
            var flag: Bool
            var small: UInt8
            var number: Float
            var date: Date
            var data: Data
            var uuid: UUID
            var url: URL
            var decimal: Decimal
            var kind: Kind
            var list: [Int]
            var missing: Date?
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .iso8601 }
        }
        let schema = """
            CREATE TABLE everything (id INTEGER PRIMARY KEY, text, flag, small, number, date, data, uuid, url, decimal, kind,
            list, missing)
            """
        try await StoreFixture.with(schema) { fixture in
            let record = Everything(
                id: nil, text: "t", flag: true, small: 7, number: 1.5, date: Date(timeIntervalSince1970: 0),
                data: Data([1, 2]),
                uuid: UUID(), url: URL(string: "https://example.org/")!, decimal: 1.25, kind: .good, list: [1, 2],
                missing: nil)
            try fixture.commit { for _ in 0..<3 { try $0.insert(record) } }
            let queue = try DatabaseQueue()
            try queue.write { db in
                try db.execute(sql: schema)
                try record.insert(db)
            }
            let columns = "text, flag, small, number, date, data, uuid, url, decimal, kind, list, missing"
            let ours = try fixture.store.reader.read { try Row.fetchAll($0, sql: "SELECT \(columns) FROM everything") }
            let theirs = try queue.read { try Row.fetchAll($0, sql: "SELECT \(columns) FROM everything") }
            #expect(ours == theirs)
        }
    }

    @Test func recordsOfOneTypeMayDiffer() async throws {
        struct Varying: FeedRecord {
            static let databaseTableName = "item"
            var id: String
            var name: String?
            var size: Int?
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(id, forKey: .id)
                if let name { try container.encode(name, forKey: .name) }
                if let size { try container.encode(size, forKey: .size) }
            }
        }
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit { for id in ["a", "b", "c", "d"] { try $0.insert(Item(id: id, name: "n", size: 0)) } }
            try fixture.commit { context in
                try context.insert(Varying(id: "a", name: "A", size: 1))
                try context.insert(Varying(id: "b", name: "B", size: nil))
                try context.insert(Varying(id: "c", name: nil, size: 3))
                try context.insert(Varying(id: "d", name: "D", size: 4))
            }
            #expect(try fixture.rows("SELECT * FROM item ORDER BY id") == ["a|A|1", "b|B|0", "c|n|3", "d|D|4"])
        }
    }

    @Test func scratchIsRemoved() async throws {
        try await StoreFixture.with(schema) { fixture in
            let folder = fixture.store.workFolder
            try fixture.commit { try $0.insert(Item(id: "a")) }
            #expect(try files(in: folder).isEmpty)
            let crashed = fixture.store.makeWorkerContext(source: "crashed/source")
            try crashed.insert(Item(id: "a"))
            try crashed.flush()
            #expect(try files(in: folder).contains("crashed%2Fsource.scratch"))
            let long = String(repeating: "源", count: 100)
            let other = fixture.store.makeWorkerContext(source: long)
            try other.insert(Item(id: "a"))
            try other.flush()
            // A source that runs keeps its own.
            let lock = try #require(try fixture.store.claim(long))
            try fixture.store.removeAbandonedScratch()
            #expect(try files(in: folder).count { $0.hasSuffix(".scratch") } == 1)
            lock.unlock()
            try fixture.store.removeAbandonedScratch()
            #expect(try files(in: folder).isEmpty)
        }
    }

    /// Statements are kept for so many tables; then all are forgotten.
    @Test func moreTablesThanStatementsAreKeptFor() async throws {
        let tables = (0..<StagingMemory.maximumShapes + 20).map { "t\($0)" }
        let schema = tables.map { "CREATE TABLE \($0) (id TEXT PRIMARY KEY, name TEXT);" }.joined()
        try await StoreFixture.with(schema) { fixture in
            for turn in ["a", "b"] {
                for table in tables {
                    let counts = try fixture.commit(
                        to: fixture.store, usesScratch: false, table,
                        [(MergeRule(sync: .mirror), { try $0.insert(into: table, ["id": turn, "name": table]) })])
                    #expect(counts.inserted == 1 && counts.deleted == (turn == "a" ? 0 : 1))
                }
            }
            for table in tables { #expect(try fixture.rows("SELECT * FROM \(table)") == ["b|\(table)"]) }
        }
    }

    @Test func smallStacksStayInMemory() async throws {
        try await StoreFixture.with(schema) { fixture in
            let small = fixture.store.makeWorkerContext(source: "small")
            try small.insert(Item(id: "a"))
            #expect(try small.finish().path == nil)
            let large = fixture.store.makeWorkerContext(source: "large")
            defer { large.remove() }
            let name = String(repeating: "x", count: 1000)
            for number in 0..<3000 { try large.insert(Item(id: "\(number)", name: name)) }
            #expect(try large.finish().path != nil)
        }
    }
    /// A run beside many others holds at most 256 KiB of its rows in memory.
    @Test(arguments: [true, false]) func rowsInMemoryAreFewUnlessMoreAreAllowed(mayGrow: Bool) async throws {
        try await StoreFixture.with(schema) { fixture in
            let name = String(repeating: "x", count: 1000)
            func path(_ source: String, rows: Int) throws -> (path: String?, asked: Int) {
                let context = fixture.store.makeWorkerContext(source: source)
                defer { context.remove() }
                var asked = 0
                context.limitMemory {
                    asked += 1
                    return mayGrow
                }
                for number in 0..<rows { try context.insert(Item(id: "\(number)", name: name)) }
                return (try context.finish().path, asked)
            }
            let small = try path("small", rows: 100)
            #expect(small.path == nil && small.asked == 0)
            let middle = try path("middle", rows: 600)
            #expect((middle.path == nil) == mayGrow && middle.asked == 1)
            let large = try path("large", rows: 3000)
            #expect(large.path != nil && large.asked == 1)
        }
    }
}
