import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import TributaryEngine

/// Columns that a request's `scope` fills: in tables that are created, in those that are there, in rows and deletions.
@Suite(.onEachStore) struct ScopeTests {
    private static func mapping(_ options: String = "", of source: String = "s") -> String {
        """
        [[sources.\(source).requests]]
        url = "URL/\(source)"
        sync = "mirror"
        \(options)
        [[sources.\(source).requests.tables]]
        table = "place"
        element = "p"
        key = ["region", "id"]
        [sources.\(source).requests.tables.columns]
        zip = "@zip"
        id = "@id"
        area = "@area"

        """
    }

    @Test func aCreatedTableHasTheColumnsOfItsScopeAndAnIndexForThem() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<r><p id='1'/><p id='2'/></r>")
            fixture.server.document("/b", "<r><p id='1'/></r>")
            let sources =
                Self.mapping("scope = { region = \"a\" }", of: "a")
                + Self.mapping("scope = { region = \"b\" }", of: "b")
            #expect(try await fixture.sync(sources).map(\.error) == [nil, nil])
            fixture.server.document("/a", "<r><p id='2'/></r>")
            #expect(try await fixture.sync(sources).map(\.counts.deleted) == [1, 0])
            #expect(try fixture.rows("SELECT region, id FROM place ORDER BY 1, 2") == ["a|2", "b|1"])
            // Columns stand as in the file.
            let columns = StoreKind.by(
                sqlite: "SELECT name FROM pragma_table_info('place')",
                postgres:
                    "SELECT attname FROM pg_attribute WHERE attrelid = 'place'::regclass AND attnum > 0 ORDER BY attnum"
            )
            #expect(try fixture.rows(columns) == ["zip", "id", "area", "region"])
        }
    }

    @Test(arguments: ["scope = { region = \"a\", kind = \"k\" }", "scope = { kind = \"k\" }"])
    func deletionsUseAnIndex(scope: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", "<r><p id='1' zip='z'/></r>")
            let mapping = Self.mapping(scope).replacingOccurrences(of: "[\"region\", \"id\"]", with: "[\"id\"]")
            #expect(try await fixture.sync(mapping).first?.error == nil)
            guard StoreKind.current == .sqlite else {
                // A small table is read as a whole, whatever indexes there are.
                let indexes = try fixture.rows("SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()")
                return #expect(indexes.contains { $0.contains("kind") }, "\(indexes)")
            }
            let plan = try fixture.rows("EXPLAIN QUERY PLAN SELECT * FROM place WHERE kind = 'k'")
            let condition = scope.contains("region") ? "region = 'a' AND kind = 'k'" : "kind = 'k'"
            let full = try fixture.rows("EXPLAIN QUERY PLAN SELECT * FROM place WHERE \(condition)")
            #expect((plan + full).contains { $0.contains("USING INDEX") }, "\(plan) \(full)")
        }
    }

    @Test func aTableThatIsThereMustHaveTheColumnsOfTheScope() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/s", "<r><p id='1'/></r>")
            let mapping = Self.mapping().replacingOccurrences(of: "[\"region\", \"id\"]", with: "[\"id\"]")
            try await fixture.sync(mapping)
            let report = try await fixture.sync(
                mapping.replacingOccurrences(of: "sync =", with: "scope = { region = \"a\" }\nsync =")
            ).first
            #expect(report?.error?.contains("table 'place' has no column 'region', which 'scope' names") == true)
        }
    }

    /// Of columns that the feed may fill, whichever way they are declared.
    @Test(arguments: ["", "columns = { id = \"@id\", company = \"@company\" }"])
    func theScopeFillsWhatTheFeedDoesNot(columns: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = """
                [[sources.s.requests]]
                url = "URL/a"
                scope = { company = "c" }
                tables = [{ table = "item", element = "item", key = ["id"], sync = "mirror", \(columns) }]
                """.replacingOccurrences(of: ", \(columns) }", with: columns.isEmpty ? " }" : ", \(columns) }")
            try fixture.write(
                schema: "CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, name TEXT, size INTEGER, company TEXT);")
            fixture.server.document("/a", "<items><item id='1'/><item id='2'/></items>")
            #expect(try await fixture.sync(mapping).first?.error == nil)
            fixture.server.document("/a", "<items><item id='2'/></items>")
            #expect(try await fixture.sync(mapping).first?.counts.deleted == 1)
            #expect(try fixture.rows("SELECT id, company FROM item") == ["2|c"])
        }
    }
}
