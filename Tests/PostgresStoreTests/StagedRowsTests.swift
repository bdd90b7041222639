import FeedModel
import Foundation
import GRDB
@testable import PostgresStore
import Testing
@testable import FeedStaging
@testable import FeedStores

/// Stored rows beside those that a run stages.
@Suite struct StagedRowsTests {
    private struct Item: FeedRecord, Equatable {
        static let databaseTableName = "Item"
        var id: Int64
        var name: String?
        var size: Double?
        var flag: Bool?
        var data: Data?
        var at: Date?
    }

    private static let schema = """
        CREATE TABLE "Item" (id integer PRIMARY KEY, name text, size real, flag boolean, data bytea, at timestamptz);
        INSERT INTO "Item" VALUES
            (1, 'o''ne?', 1.5, true, '\\x00ff', '2026-11-21 09:30:00.25+01'), (2, NULL, NULL, NULL, NULL, NULL),
            (3, 'three', -1e30, false, '', '2026-01-01');
        CREATE TABLE loose (word text, "Ä b" integer, mood citext_or_text);
        INSERT INTO loose VALUES ('a', 1, 'X'), ('a', 1, 'X'), ('b', 2, 'y');
        """.replacing("citext_or_text", with: "varchar(9)")

    private let one = Item(
        id: 1, name: "o'ne?", size: 1.5, flag: true, data: Data([0, 255]),
        at: Date(timeIntervalSince1970: 1_795_249_800.25))

    private func withContext(
        _ schema: String = schema, _ body: (WorkerContext, TablesFixture) async throws -> Void
    ) async throws {
        try await TablesFixture.with(schema) { (fixture) async throws in
            let context = WorkerContext(store: fixture.store, source: "source")
            defer { context.remove() }
            context.beginRequest(0, rule: MergeRule())
            try await body(context, fixture)
        }
    }

    @Test func storedRowsAreFoundByTheirValues() async throws {
        try await withContext { (context, fixture) async throws in
            #expect(try context.fetchStored(Item.self, key: 1) == one)
            #expect(try context.fetchStored(Item.self, key: ["name": "o'ne?", "size": 1.5]) == one)
            #expect(try context.fetchStored(Item.self, key: ["NAME": nil])?.id == 2)
            #expect(try context.fetchStored(Item.self, key: ["data": Data()])?.id == 3)
            #expect(try context.fetchStored(Item.self, key: ["at": one.at])?.id == 1)
            #expect(try context.fetchStored(Item.self, key: ["flag": false])?.id == 3)
            #expect(try context.fetchStored(Item.self, key: 3)?.size == -1e30)
            #expect(try context.fetchStored(Item.self, key: 9) == nil)
            let error = #expect(throws: StoreError.self) { try context.fetchStored(Item.self, key: ["none": 1]) }
            #expect(error?.message.contains("none") == true)
            try fixture.execute("CREATE TABLE later (id integer PRIMARY KEY); INSERT INTO later VALUES (5)")
            struct Later: FeedRecord { var id: Int }
            #expect(try context.fetchStored(Later.self, key: 5)?.id == 5)
        }
    }

    @Test func stagedRowsComeBeforeTheStores() async throws {
        try await withContext { (context, _) async throws in
            #expect(try context.fetchOne(Item.self, key: 1) == one)
            #expect(try !context.exists(Item.self, key: 9))
            try context.insert(Item(id: 1, name: "new"))
            try context.insert(Item(id: 9, name: "nine", size: 9))
            #expect(try context.fetchOne(Item.self, key: 1)?.name == "new")
            #expect(try context.fetchOne(Item.self, key: ["name": "three"])?.id == 3)
            #expect(try context.exists(Item.self, key: 9))
            #expect(try context.fetchAll(Item.self).map(\.id).sorted() == [1, 2, 3, 9])
            #expect(try context.fetchAll(Item.filter(Column("size") != nil).order(Column("id"))).map(\.id) == [3, 9])
        }
    }

    @Test func rowsAreFetchedAnew() async throws {
        try await withContext { (context, fixture) async throws in
            #expect(try context.fetchOne(Item.self, key: 3)?.name == "three")
            #expect(try context.fetchOne(Item.self, key: ["name": "three"])?.id == 3)
            try fixture.execute(
                "UPDATE \"Item\" SET name = 'drei' WHERE id = 3; INSERT INTO \"Item\" VALUES (4, 'three')")
            #expect(try context.fetchOne(Item.self, key: 3)?.name == "drei")
            #expect(try context.fetchOne(Item.self, key: ["name": "three"])?.id == 4)
            try fixture.execute("DELETE FROM \"Item\" WHERE id = 3")
            #expect(try context.fetchOne(Item.self, key: 3) == nil)
        }
    }

    @Test func rowsWithoutAKeyKeepTheirNumber() async throws {
        struct Loose: FeedRecord {
            static let databaseTableName = "loose"
            var word: String?
            var mood: String?
        }
        try await withContext { (context, _) async throws in
            #expect(try context.exists(Loose.self, key: ["word": "a"]))
            #expect(try context.fetchAll(Loose.filter(Column("word") == "a")).count == 2)
            #expect(try context.fetchAll(Loose.self).count == 3)
        }
    }

    @Test func aLargeTableIsCopiedOnce() async throws {
        let schema = """
            CREATE TABLE many (id bigint PRIMARY KEY, name text);
            INSERT INTO many SELECT n, 'name ' || n FROM generate_series(1, 50000) n;
            """
        struct Many: FeedRecord {
            static let databaseTableName = "many"
            var id: Int
            var name: String
        }
        try await withContext(schema) { (context, fixture) async throws in
            #expect(try context.exists(Many.filter(Column("name") == "name 49999")))
            try fixture.execute("TRUNCATE many")
            #expect(try context.fetchAll(Many.filter(Column("id") > 49990)).count == 10)
            #expect(try context.fetchOne(Many.self, key: 7)?.name == "name 7")
        }
    }

    @Test func whatCitextHoldsEqual() async throws {
        let schema = """
            CREATE EXTENSION citext; CREATE TABLE tag (name citext PRIMARY KEY, code char(4));
            INSERT INTO tag VALUES ('Swift', 'ab');
            """
        struct Tag: FeedRecord {
            static let databaseTableName = "tag"
            var name: String
            var code: String?
        }
        try await withContext(schema) { (context, _) async throws in
            #expect(try context.fetchOne(Tag.self, key: "sWIFT")?.name == "Swift")
            #expect(try context.fetchOne(Tag.self, key: ["code": "ab"])?.name == "Swift")
            #expect(try context.fetchStored(Tag.self, key: "SWIFT")?.name == "Swift")
        }
    }

    @Test func queriesOverStagedAndStoredRows() async throws {
        try await withContext { (context, fixture) async throws in
            try context.insert(Item(id: 2, name: "t\two\\\n", size: 0.5, flag: false, data: Data([1]), at: one.at))
            try context.insert(Item(id: 9))
            let staged = try context.rows("SELECT * FROM staged.\"Item\" ORDER BY id", limit: 10)
            #expect(staged.rows.count == 2 && !staged.isOfStore)
            #expect(
                staged.rows[0] == [
                    "id": "2", "name": "t\two\\\n", "size": "0.5", "flag": "0", "data": "01",
                    "at": "2026-11-21T08:30:00.250Z",
                ])
            let both = try context.rows(
                """
                SELECT m.id AS "ID", s.id AS other, 'staged.x main.x' AS text /* staged.loose */
                FROM Main . "Item" m LEFT JOIN Staged."Item" s ON s.id = m.id, (SELECT count(*) FROM "Item") AS staged (n)
                WHERE staged.n = 3 ORDER BY m.id -- main.x
                """, limit: 2)
            let expected: [[String: String?]] = [
                ["id": "1", "other": nil, "text": "staged.x main.x"],
                ["id": "2", "other": "2", "text": "staged.x main.x"],
            ]
            #expect(both.rows == expected && both.isOfStore)
            #expect(try context.columns(ofQuery: "SELECT \"Ä b\", 1 AS one FROM loose") == ["Ä b".lowercased(), "one"])
            let texts = try context.rows(
                """
                SELECT flag, data, size, at, at::date AS day, at AT TIME ZONE 'UTC' AS plain, 1.50 AS price, ARRAY[1, 2] AS list
                FROM main."Item" WHERE id = 1
                """, limit: 1)
            #expect(
                texts.rows == [
                    [
                        "flag": "1", "data": "00ff", "size": "1.5", "at": "2026-11-21T08:30:00.250Z",
                        "day": "2026-11-21",
                        "plain": "2026-11-21T08:30:00.250", "price": "1.50", "list": "{1,2}",
                    ]
                ])
            #expect(try context.rows("SELECT 1 FROM staged.loose", limit: 5).rows.isEmpty)
            #expect(try fixture.rows("SELECT count(*) FROM pg_class WHERE relpersistence = 't'") == ["0"])
        }
    }

    @Test func queriesThatWriteAreRefused() async throws {
        try await withContext { (context, fixture) async throws in
            try context.insert(Item(id: 9))
            try fixture.execute("CREATE SEQUENCE numbers")
            let writing = [
                "DELETE FROM loose", "WITH gone AS (DELETE FROM loose RETURNING *) SELECT * FROM gone",
                "INSERT INTO staged.\"Item\" SELECT * FROM \"Item\"", "SELECT nextval('numbers')",
                "SELECT * FROM \"Item\" FOR UPDATE", "  /* SELECT */ update loose SET word = 'x'",
            ]
            for query in writing {
                let error = #expect(throws: StoreError.self) { try context.rows(query, limit: 1) }
                #expect(error?.message == "\"\(query)\" writes; it must be a SELECT")
            }
            let broken = ["SELECT nothing FROM loose", "SELECT 1 FROM staged.none", "SELECT 1; SELECT 2"]
            for query in broken {
                let error = #expect(throws: StoreError.self) { try context.rows(query, limit: 1) }
                #expect(error?.message.hasPrefix("\"\(query)\" cannot be run: ") == true)
            }
            #expect(try context.rows("SELECT * FROM loose;", limit: 9).rows.count == 3)
            #expect(try fixture.rows("SELECT count(*) FROM loose") == ["3"])
        }
    }

    @Test func textsOfTimes() {
        #expect(StoredText.iso8601("2026-11-21 08:30:00.25+00", hasZone: true) == "2026-11-21T08:30:00.250Z")
        #expect(StoredText.iso8601("2026-11-21 08:30:00", hasZone: false) == "2026-11-21T08:30:00")
    }
}
