import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Tables and columns that a mapping spells otherwise than the store, and tables of other schemas.
@Suite(.onEachStore) struct TableNameTests {
    private static func items(_ sync: String, _ options: String = "", table: String = "Item") -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        sync = "\(sync)"
        [[sources.s.requests.tables]]
        table = "\(table)"
        element = "item"
        key = ["CODE"]
        columns = { Code = "@code", Name = "@name" }
        \(options)

        """
    }

    /// A key that is not the primary key: it counts only if the declaration is heeded.
    private static let schema = """
        CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, code TEXT UNIQUE NOT NULL, name TEXT, own TEXT);
        """

    @Test(arguments: ["mirror", "upsert"])
    func aKeyCountsHoweverItIsSpelt(_ sync: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: Self.schema)
            fixture.server.document("/a", "<items><item code='a' name='A'/><item code='b' name='B'/></items>")
            #expect(try await fixture.sync(Self.items(sync)).first?.counts == MergeCounts(inserted: 2))
            try fixture.store.execute("UPDATE item SET own = 'mine'")
            fixture.server.document("/a", "<items><item code='a' name='A2'/><item code='b' name='B'/></items>")
            let report = try await fixture.sync(Self.items(sync)).first
            #expect(report?.error == nil)
            #expect(report?.counts == MergeCounts(updated: 1, unchanged: 1))
            #expect(
                try fixture.rows("SELECT id, code, name, own FROM item ORDER BY id") == ["1|a|A2|mine", "2|b|B|mine"])
        }
    }

    /// Rows of a parent are found by the parent's name in the store.
    @Test func aParentCountsHoweverItIsSpelt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS purchase (number TEXT PRIMARY KEY);
                    CREATE TABLE IF NOT EXISTS line (purchase TEXT NOT NULL, sku TEXT NOT NULL,
                        PRIMARY KEY (purchase, sku));
                    """)
            let sources = """
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "Purchase"
                element = "order"
                key = ["Number"]
                columns = { Number = "@number" }
                [[sources.s.requests.tables]]
                table = "LINE"
                element = "line"
                key = ["Purchase", "Sku"]
                within = "Purchase"
                columns = { Purchase = { parent = "PURCHASE" }, Sku = "@sku" }

                """
            fixture.server.document("/a", "<o><order number='1'><line sku='a'/><line sku='b'/></order></o>")
            #expect(try await fixture.sync(sources).first?.counts == MergeCounts(inserted: 3))
            fixture.server.document("/a", "<o><order number='1'><line sku='b'/></order></o>")
            let report = try await fixture.sync(sources).first
            #expect(report?.error == nil)
            #expect(report?.counts == MergeCounts(deleted: 1, unchanged: 2))
            #expect(try fixture.rows("SELECT sku FROM line") == ["b"])
        }
    }

    /// In PostgreSQL `schema.table` is a table of that schema, wherever tables are named.
    @Test func aSchemaIsPartOfTheName() async throws {
        guard StoreKind.current == .postgres else { return }
        try await EngineFixture.with { (fixture) async throws in
            let schema = "warehouse_" + UUID().uuidString.prefix(8).lowercased()
            let sources = Self.items("mirror", "deleted = \"gone\"", table: "\(schema).Fact").replacing(
                "[[sources.s", with: "[sources.s]\nkeep_history = true\n[[sources.s", maxReplacements: 1)
            fixture.server.document("/a", "<items><item code='a' name='A'/><item code='b' name='B'/></items>")
            let refused = try await fixture.sync(sources).first?.error ?? ""
            #expect(refused.contains("run CREATE SCHEMA \"\(schema)\""))
            #expect(refused.contains("sources.s.requests[1].tables[1]"))
            try fixture.store.execute("CREATE SCHEMA \(schema)")
            defer { try? fixture.store.execute("DROP SCHEMA \(schema) CASCADE") }
            let first = try await fixture.sync(sources).first
            #expect(first?.error == nil)
            #expect(first?.counts == MergeCounts(inserted: 2))
            #expect(try fixture.rows("SELECT \"Code\" FROM \(schema).\"Fact\" ORDER BY 1") == ["a", "b"])
            fixture.server.document("/a", "<items><item code='a' name='A2'/></items>")
            #expect(try await fixture.sync(sources).first?.counts == MergeCounts(updated: 1, deleted: 1))
            #expect(
                try fixture.rows("SELECT DISTINCT \"table\" FROM tributary_change") == ["\(schema).Fact"])
            let store = try #require(try fixture.configuration(sources).openExistingStore(isWritten: true))
            defer { try? store.close() }
            let report = try await UndoRun(
                "s", to: .lastChange, in: store, declaration: fixture.configuration(sources)[source: "s"],
                parsers: EngineFixture.registry
            ).run()
            #expect(report.error == nil)
            #expect(
                try fixture.rows("SELECT \"Code\", \"Name\", gone IS NULL FROM \(schema).\"Fact\" ORDER BY 1")
                    == ["a|A|1", "b|B|1"])
        }
    }

    /// Two names of one table would hide from each other which requests write it.
    @Test func aSchemaOfTheSearchPathIsNotPartOfTheName() async throws {
        guard StoreKind.current == .postgres else { return }
        try await EngineFixture.with { (fixture) async throws in
            let schema = try #require(try fixture.rows("SELECT current_schema()").first)
            let sources = Self.items("mirror", table: "\(schema).fact")
            fixture.server.document("/a", "<items><item code='a' name='A'/></items>")
            for _ in 0..<2 {
                let error = try await fixture.sync(sources).first?.error ?? ""
                #expect(error.contains("write table = \"fact\""))
                try? fixture.store.execute("CREATE TABLE fact (code TEXT PRIMARY KEY, name TEXT)")
            }
        }
    }
}
