import FeedConfiguration
import FeedModel
import FeedStores
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// `references`: what is looked up is what will be there after the commit, as if the document were imported into empty
/// tables.
@Suite(.onEachStore) struct LookedUpRowTests {
    private func sync(_ fixture: EngineFixture, _ document: String, _ mapping: String) async throws -> RunReport {
        fixture.server.document("/feed", "<f>\(document)</f>")
        let source = "[sources.s]\n[[sources.s.requests]]\nurl = \"URL/feed\"\nsync = \"mirror\"\n" + mapping
        return try #require(try await fixture.sync(source, mode: .full).first)
    }

    private func table(_ name: String, _ element: String, key: String?, columns: String, options: String = "") -> String
    {
        """
        [[sources.s.requests.tables]]
        table = "\(name)"
        element = "\(element)"
        \(key.map { "key = [\"\($0)\"]" } ?? "")
        \(options)
        [sources.s.requests.tables.columns]
        \(columns)

        """
    }

    private func prices(_ missing: String, key: String? = "id", options: String = "") -> String {
        table(
            "product", "product", key: "sku", columns: "sku = \"@sku\"\nday = { path = \"@day\", type = \"date\" }",
            options: options)
            + table(
                "price", "price", key: key,
                columns:
                    "id = \"@id\"\nproduct = { path = \"@sku\", references = \"product(sku)\", missing = \"\(missing)\" }"
            )
    }

    private static let priced =
        "SELECT price.id, sku FROM price LEFT JOIN product ON product.id = price.product ORDER BY 1"

    private func schema(_ action: String?) -> String {
        """
        CREATE TABLE IF NOT EXISTS product (id INTEGER PRIMARY KEY, sku TEXT UNIQUE, day TEXT);
        CREATE TABLE IF NOT EXISTS price (id TEXT, product bigint \(action.map { "REFERENCES product \($0)" } ?? ""));
        CREATE UNIQUE INDEX IF NOT EXISTS price_id ON price (id);
        """
    }

    @Test(arguments: [nil, "", "ON DELETE SET NULL", "ON DELETE CASCADE", "ON DELETE RESTRICT"])
    func aRowThatTheCommitDeletesIsNotFound(action: String?) async throws {
        for (missing, key) in [("null", "id"), ("null", nil), ("discard", "id"), ("discard", nil)] {
            try await EngineFixture.with { (fixture) async throws in
                try fixture.write(schema: schema(action))
                let mapping = prices(missing, key: key)
                let first =
                    "<product sku='bolt'/><product sku='nut'/><price id='1' sku='nut'/><price id='2' sku='bolt'/>"
                #expect(try await sync(fixture, first, mapping).outcome == .committed)
                let second = first.replacing("<product sku='nut'/>", with: "<product sku='washer'/>")
                let report = try await sync(fixture, second, mapping)
                if missing == "discard" {
                    #expect(report.outcome == .discarded)
                    #expect(
                        report.error?.contains("'product' with sku = \"nut\", which does not exist") == true,
                        "\(report)")
                } else {
                    #expect(report.outcome == .committed, "\(report)")
                    #expect(try fixture.rows(Self.priced) == ["1|NULL", "2|bolt"])
                    #expect(try fixture.rows("SELECT count(*) FROM price WHERE product IS NOT NULL") == ["1"])
                    let again = try await sync(fixture, second, mapping)
                    #expect(again.counts.unchanged == 4, "\(again)")
                }
            }
        }
    }

    @Test func aRowThatExpiresWithTheCommitIsNotFound() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: schema(nil))
            let mapping = prices("null", options: "sync = \"upsert\"\nexpire = { column = \"day\", after = \"10d\" }")
            let document = "<product sku='new' day='2099-01-01'/><price id='1' sku='old'/><price id='2' sku='new'/>"
            #expect(try await sync(fixture, document, mapping).outcome == .committed)
            try fixture.store.execute("INSERT INTO product (sku, day) VALUES ('old', '2001-01-01')")
            #expect(try await sync(fixture, document, mapping).outcome == .committed)
            #expect(try fixture.rows("SELECT sku FROM product") == ["new"])
            #expect(try fixture.rows(Self.priced) == ["1|NULL", "2|new"])
        }
    }

    /// The value passes from one row to another within the commit.
    @Test(arguments: ["id", nil])
    func theRowThatHasTheValueAfterwardsIsFound(key: String?) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: schema(nil))
            let mapping =
                table("product", "product", key: "id", columns: "id = \"@id\"\nsku = \"@sku\"")
                + table(
                    "price", "price", key: key,
                    columns: "id = \"@id\"\nproduct = { path = \"@sku\", references = \"product(sku)\" }")
            let prices = "<price id='x' sku='a'/>"
            #expect(
                try await sync(fixture, "<product id='1' sku='a'/><product id='2' sku='b'/>" + prices, mapping).error
                    == nil)
            let report = try await sync(fixture, "<product id='1' sku='b'/><product id='2' sku='a'/>" + prices, mapping)
            #expect(report.error == nil)
            #expect(try fixture.rows("SELECT id, product FROM price") == ["x|2"])
        }
    }

    // MARK: - Rows that refer to rows of their own table

    private let categories = """
        [[sources.s.requests.tables]]
        table = "category"
        element = "c"
        key = ["code"]
        OPTIONS
        [sources.s.requests.tables.columns]
        code = "@code"
        parent = { path = "@parent", references = "category(code)", missing = "null" }
        """

    private static let tree = """
        CREATE TABLE IF NOT EXISTS category (
            id INTEGER PRIMARY KEY, code TEXT UNIQUE, parent bigint REFERENCES category (id));
        """
    private static let parents =
        "SELECT c.code, p.code FROM category c LEFT JOIN category p ON p.id = c.parent ORDER BY 1"

    /// A known row whose parent comes with the same run is changed: it is counted, logged, planned and limited.
    @Test func aKnownRowThatGetsANewParentIsUpdated() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: Self.tree)
            let mapping = categories.replacing("OPTIONS", with: "")
            let first = "<c code='b'/><c code='d'/>"
            #expect(try await sync(fixture, first, mapping).counts == MergeCounts(inserted: 2))
            let second = "<c code='a'/><c code='b' parent='a'/><c code='d'/><c code='e' parent='a'/>"
            let limited = categories.replacing("OPTIONS", with: "max_changed = 0")
            let blocked = try await sync(fixture, second, limited)
            #expect(blocked.outcome == .blocked && blocked.error?.contains("max_changed") == true, "\(blocked)")
            fixture.server.document("/feed", "<f>\(second)</f>")
            let source = "[sources.s]\n[[sources.s.requests]]\nurl = \"URL/feed\"\nsync = \"mirror\"\n" + mapping
            let service = try fixture.service(source, clock: fixture.clock)
            let told = ToldChanges()
            let plan = try await service.plan(
                try #require(service.configuration[source: "s"]), bodies: [:], ignoresValidators: true
            ) { told.add($0) }
            try service.store.close()
            #expect(plan.counts == MergeCounts(inserted: 2, updated: 1, unchanged: 1))
            #expect(told.all == ["insert a", "insert e", "update b"])
            let report = try await sync(fixture, second, mapping)
            #expect(report.counts == MergeCounts(inserted: 2, updated: 1, unchanged: 1), "\(report)")
            #expect(try fixture.rows(Self.parents) == ["a|NULL", "b|a", "d|NULL", "e|a"])
            #expect(
                try fixture.rows(
                    "SELECT key, operation FROM tributary_change WHERE run = (SELECT max(run) FROM tributary_change) ORDER BY 1"
                )
                    == ["a|insert", "b|update", "e|insert"])
            #expect(try await sync(fixture, second, mapping).counts == MergeCounts(unchanged: 4))
            // A parent that leaves the feed, and one that takes its place.
            let third = second.replacing("code='a'", with: "code='z'")
            #expect(
                try await sync(fixture, third, mapping).counts
                    == MergeCounts(inserted: 1, updated: 2, deleted: 1, unchanged: 1))
            #expect(try fixture.rows(Self.parents) == ["b|NULL", "d|NULL", "e|NULL", "z|NULL"])
        }
    }

    @Test func aKnownRowThatIsKeptKeepsItsParent() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: Self.tree)
            let mapping = categories.replacing("OPTIONS", with: "sync = \"insert\"")
            #expect(try await sync(fixture, "<c code='b'/>", mapping).error == nil)
            let report = try await sync(
                fixture, "<c code='a'/><c code='b' parent='a'/><c code='c' parent='a'/>", mapping)
            #expect(report.counts == MergeCounts(inserted: 2, unchanged: 1), "\(report)")
            #expect(try fixture.rows(Self.parents) == ["a|NULL", "b|NULL", "c|a"])
        }
    }

    /// Every column of the table is looked up, and part of its key.
    @Test(arguments: ["<l c='red'/>", "<l/>"])
    func aTableOfLookedUpColumnsOnly(lines: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS color (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
                    CREATE TABLE IF NOT EXISTS p_color (
                        p_id TEXT, c_id bigint, PRIMARY KEY (p_id, c_id));
                    CREATE TABLE IF NOT EXISTS p (id INTEGER PRIMARY KEY, sku TEXT UNIQUE);
                    """)
            let mapping =
                table("p", "p", key: "sku", columns: "sku = \"@sku\"")
                + table(
                    "p_color", "l", key: nil,
                    columns:
                        "p_id = { parent = \"p\" }\nc_id = { path = \"@c\", references = \"color(name)\", missing = \"create\" }"
                )
            let report = try await sync(fixture, "<p sku='1'>\(lines)</p><p sku='2'/>", mapping)
            if lines.contains("red") {
                #expect(report.error == nil)
                #expect(try fixture.rows("SELECT count(*) FROM p_color") == ["1"])
                #expect(try await sync(fixture, "<p sku='1'>\(lines)</p><p sku='2'/>", mapping).counts.unchanged == 4)
            } else {
                #expect(report.error?.contains("its key column 'c_id' has no value, in the row") == true, "\(report)")
            }
        }
    }
}
