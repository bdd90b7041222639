import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine

/// Columns that have what their request was sent for.
@Suite struct SentValueTests {
    private static func stack(_ columns: String) -> String {
        """
        [[sources.s.requests]]
        url = "URL/list"
        capture = { token = "/list/@token" }
        tables = [{ table = "shop", element = "shop", key = ["id"], columns = { id = { path = "@id", type = "integer" }, name = "@name" } }]
        [[sources.s.requests]]
        url = "URL/shops/${row:id}"
        for_each = "SELECT id, name FROM staged.shop ORDER BY id"
        [[sources.s.requests.tables]]
        table = "offer"
        element = "offer"
        key = ["sku"]
        [sources.s.requests.tables.columns]
        sku = "@sku"
        \(columns)
        """
    }

    private func serve(_ fixture: EngineFixture) {
        fixture.server.document("/list", "<list token='t-1'><shop id='1' name='A'/><shop id='2'/></list>")
        fixture.server.document("/shops/1", "<offers><offer sku='x'/><offer sku='y'/></offers>")
        fixture.server.document("/shops/2", "<offers><offer sku='z'/></offers>")
    }

    @Test(.onEachStore) func aColumnHasTheRowForWhichItsRequestWasSent() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture)
            let stack = Self.stack(
                """
                shop = { row = "id", type = "integer" }
                name = { row = "NAME" }
                token = { capture = "token" }
                address = { response = "url" }
                """)
            let report = try await fixture.sync(stack).first
            #expect(report?.error == nil && report?.counts.inserted == 5)
            let url = fixture.server.url
            let type = StoreKind.by(sqlite: "typeof(shop) = 'integer'", postgres: "pg_typeof(shop) = 'bigint'::regtype")
            #expect(
                try fixture.rows("SELECT sku, shop, \(type), name, token, address FROM offer ORDER BY sku") == [
                    "x|1|1|A|t-1|\(url)/shops/1", "y|1|1|A|t-1|\(url)/shops/1",
                    "z|2|1|NULL|t-1|\(url)/shops/2",
                ])
            #expect(try await fixture.sync(stack, mode: .full).first?.counts.unchanged == 5)
        }
    }

    @Test(.onEachStore) func itMayReferToARowOfAnotherTable() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture)
            fixture.server.document("/list", "<list><shop id='1' name='A'/><shop id='2' name='B'/></list>")
            let report = try await fixture.sync(
                Self.stack("shop = { row = \"name\", references = \"shop(name)\" }")
            ).first
            #expect(report?.error == nil)
            #expect(
                try fixture.rows("SELECT sku, name FROM offer JOIN shop ON shop.id = offer.shop ORDER BY sku")
                    == ["x|A", "y|A", "z|B"])
        }
    }

    @Test(arguments: [
        ("shop = { value = \"${row:id}\" }", "a constant cannot contain"),
        ("shop = { value = \"${HOME}\" }", "a constant cannot contain"),
        ("shop = { path = \"@s\", default = \"${row:id}\" }", "a constant cannot contain"),
        ("shop = { capture = \"tokn\" }", "no earlier request of the source captures 'tokn'; did you mean 'token'?"),
        ("shop = { row = \"id\", path = \"@s\" }", "found 'path' and 'row'; give only one"),
    ])
    func whatCannotBeIsRefused(column: String, expected: String) async throws {
        try await EngineFixture.expectMistake(Self.stack(column), expected)
    }

    @Test func aRowIsSentForByForEachOnly() async throws {
        let stack = Self.stack("shop = { row = \"id\" }").replacingOccurrences(
            of: "for_each = \"SELECT id, name FROM staged.shop ORDER BY id\"", with: ""
        ).replacingOccurrences(
            of: "${row:id}", with: "1")
        try await EngineFixture.expectMistake(stack, "{ row = \"id\" } requires 'for_each'")
    }

    @Test func bracesThatAreMeantStandInAConstant() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<r><i id='1'/></r>")
            try await fixture.sync(
                """
                [[sources.s.requests]]
                url = "URL/a"
                tables = [{ table = "t", element = "i", key = ["id"], columns = { id = "@id", v = { value = "$${x}" } } }]
                """)
            #expect(try fixture.rows("SELECT v FROM t") == ["${x}"])
        }
    }
}
