import FeedModel
import FeedStores
import Foundation
import TestStores
import Testing

/// Rows for those who look at them.
@Suite(.onEachStore) struct BrowsingTests {
    /// A question without an answer in time would be the test's own mistake.
    private static let patience = Duration.seconds(60)

    private static func with(
        _ schema: String, tables: Set<String> = ["item"], _ body: (TestStore, any MainStore) throws -> Void
    ) async throws {
        try await LedgerFixture.with { (stored, store) async throws in
            try stored.execute("DROP TABLE item")
            try stored.execute(schema)
            try store.write { try $0.requests.write([request(tables: tables)], of: "shop") }
            try body(stored, store)
        }
    }

    /// All rows of a query, asked for a few at a time; the first column's values as text.
    private static func all(_ query: RowQuery, in store: any MainStore) throws -> [String] {
        var query = query
        var found: [String] = []
        while true {
            var rows: [BrowsedRow] = []
            try store.browse(within: patience) { tables in
                try tables.rows(query) { row in
                    rows.append(row)
                    return true
                }
            }
            found += rows.map { row in
                if case .text(let text) = row.values[0] { text } else { row.values[0].description }
            }
            #expect(rows.count <= query.limit)
            guard let last = rows.last, rows.count == query.limit else { return found }
            // As an address carries it.
            query.after = RowPlace(last.place.text)
            #expect(query.after == last.place)
        }
    }

    @Test func everyPageBeginsBehindTheLastRowOfTheOneBefore() async throws {
        let schema = "CREATE TABLE item (id text NOT NULL, place bigint NOT NULL, rank bigint, PRIMARY KEY (place, id))"
        try await Self.with(schema) { tables, store in
            try tables.execute(
                """
                INSERT INTO item VALUES ('a', 1, 3), ('b', 1, NULL), ('c', 2, 3), ('d', 0, 7), ('e,;~', 2, NULL), ('f', 3, 1)
                """)
            for limit in [1, 2, 3, 10] {
                var query = RowQuery(table: "item", limit: limit)
                #expect(try Self.all(query, in: store) == ["d", "a", "b", "c", "e,;~", "f"], "\(limit)")
                query.order = RowQuery.Order("rank")
                #expect(try Self.all(query, in: store) == ["f", "a", "c", "d", "b", "e,;~"], "\(limit)")
                query.order = RowQuery.Order("rank", isDescending: true)
                #expect(try Self.all(query, in: store) == ["d", "a", "c", "f", "b", "e,;~"], "\(limit)")
                query.filters = [RowQuery.Filter(column: "place", .less, "3")]
                #expect(try Self.all(query, in: store) == ["d", "a", "c", "b", "e,;~"], "\(limit)")
            }
        }
    }

    /// PostgreSQL compares a boolean with no number.
    @Test func aKeyMayHaveABoolean() async throws {
        let schema = "CREATE TABLE item (id text NOT NULL, sold boolean NOT NULL, PRIMARY KEY (sold, id))"
        try await Self.with(schema) { tables, store in
            try tables.execute("INSERT INTO item VALUES ('a', true), ('b', false), ('c', true)")
            var query = RowQuery(table: "item", limit: 1)
            #expect(try Self.all(query, in: store) == ["b", "a", "c"])
            query.order = RowQuery.Order("sold", isDescending: true)
            #expect(try Self.all(query, in: store) == ["a", "c", "b"])
        }
    }

    @Test func rowsWithoutAKeyAreInTheOrderOfTheirPlaces() async throws {
        try await Self.with("CREATE TABLE item (id text, rank bigint)") { tables, store in
            try tables.execute("INSERT INTO item VALUES ('a', 1), ('a', 1), (NULL, 2), ('b', NULL)")
            var query = RowQuery(table: "item", limit: 1)
            #expect(try Self.all(query, in: store) == ["a", "a", "NULL", "b"])
            query.order = RowQuery.Order("rank", isDescending: true)
            #expect(try Self.all(query, in: store) == ["NULL", "a", "a", "b"])
        }
    }

    @Test func conditionsAreComparedAsTheColumnCompares() async throws {
        let schema = "CREATE TABLE item (id text PRIMARY KEY NOT NULL, \"a \"\"b\"\" c\" double precision, note text)"
        try await Self.with(schema) { tables, store in
            try tables.execute(
                "INSERT INTO item VALUES ('1', 9, 'Été 50%'), ('2', 10.5, NULL), ('3', NULL, 'x'' OR 1=1 --')")
            func ids(_ filters: RowQuery.Filter...) throws -> [String] {
                var query = RowQuery(table: "ITEM", limit: 100)
                query.filters = filters
                return try Self.all(query, in: store)
            }
            let number = "a \"b\" c"
            #expect(try ids(.init(column: number, .greater, "9")) == ["2"])
            #expect(try ids(.init(column: number, .equal, "9.0")) == ["1"])
            #expect(try ids(.init(column: number, .null, "")) == ["3"])
            #expect(try ids(.init(column: "NOTE", .contains, "OR 1=1 --")) == ["3"])
            #expect(try ids(.init(column: "note", .contains, "or 1=1")) == ["3"])
            #expect(try ids(.init(column: "note", .contains, "%")) == ["1"])
            #expect(try ids(.init(column: "note", .equal, "' OR 1=1 --")) == [])
            #expect(try ids(.init(column: "id", .greater, "1"), .init(column: number, .less, "11")) == ["2"])
            for name in ["nosuch", "id\" = '1' OR \"id", "*", ""] {
                #expect(throws: RowQuery.Problem.self, "\(name)") { try ids(.init(column: name, .equal, "1")) }
            }
        }
    }

    /// A column of decimals has no type on SQLite, where it holds numbers, and texts for what a number cannot hold.
    @Test func numbersAreComparedInAColumnWithoutAType() async throws {
        let type = StoreKind.current == .sqlite ? "" : "numeric"
        try await Self.with("CREATE TABLE item (id text PRIMARY KEY NOT NULL, price \(type))") { tables, store in
            try tables.execute("INSERT INTO item VALUES ('1', 9), ('2', 10.5), ('3', -2), ('4', NULL)")
            func ids(_ comparison: RowQuery.Filter.Comparison, _ value: String) throws -> [String] {
                var query = RowQuery(table: "item", limit: 100)
                query.filters = [RowQuery.Filter(column: "price", comparison, value)]
                return try Self.all(query, in: store)
            }
            #expect(try ids(.greater, "9") == ["2"])
            #expect(try ids(.less, "9") == ["3"])
            #expect(try ids(.less, "10.5") == ["1", "3"])
            #expect(try ids(.equal, "9.0") == ["1"])
            guard StoreKind.current == .sqlite else { return }
            try tables.execute("INSERT INTO item VALUES ('5', '9'), ('6', 'on request')")
            #expect(try ids(.equal, "9") == ["1", "5"])
            #expect(try ids(.equal, "on request") == ["6"])
        }
    }

    @Test func onlyTablesThatSourcesWriteAreShown() async throws {
        let all: Set<String> = ["item", "missing", "tributary_run", "TRIBUTARY_source"]
        try await Self.with("CREATE TABLE item (id text PRIMARY KEY NOT NULL)", tables: all) { tables, store in
            try tables.execute("CREATE TABLE secret (id text PRIMARY KEY NOT NULL)")
            #expect(try store.browsedTables().map(\.name) == ["item"])
            #expect(try store.browsedTable("item")?.sources == ["shop"])
            #expect(try store.browsedTable("item")?.key == ["id"])
            for name in ["secret", "missing", "tributary_run", "Tributary_Source", "main.item", "item\" --", ""] {
                #expect(try store.browsedTable(name) == nil, "\(name)")
                #expect(throws: RowQuery.Problem.self, "\(name)") {
                    try store.browse(within: Self.patience) {
                        try $0.rows(RowQuery(table: name, limit: 1)) { _ in true }
                    }
                }
            }
        }
    }

    @Test func aQuestionEndsWhenItsTimeIsOver() async throws {
        try await Self.with("CREATE TABLE item (id text PRIMARY KEY NOT NULL)") { tables, store in
            try tables.execute(
                """
                INSERT INTO item WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
                SELECT 'item ' || i FROM n
                """)
            var query = RowQuery(table: "item", limit: 10)
            query.filters = [RowQuery.Filter(column: "id", .contains, "nothing has it")]
            do {
                try store.browse(within: .milliseconds(1)) { try $0.rows(query) { _ in true } }
                Issue.record("200,000 rows were searched within a millisecond")
            } catch let problem as RowQuery.Problem {
                #expect(problem.isLate)
            }
            // Others do not hear of it.
            let row = try store.browse(within: Self.patience) { try $0.row([.text("item 7")], of: "item") }
            #expect(row?.values == [.text("item 7")])
        }
    }

    @Test(arguments: [
        RowPlace(key: [.integer(-5), .text("a,b;c~d~1"), .blob(Data([0, 255]))]), RowPlace(key: [.text("")]),
        RowPlace(key: [.text("\u{301}x,\u{301}")], sorted: .null), RowPlace(key: [.integer(1)], sorted: .real(0.1)),
    ])
    func aPlaceIsReadAsItIsWritten(_ place: RowPlace) { #expect(RowPlace(place.text) == place) }

    @Test(arguments: ["", "x", "i", "ix", "i1,", "t~", "t~9", "b?", "i1;i2;i3", "n1"])
    func whatIsNoPlaceIsNone(_ text: String) { #expect(RowPlace(text) == nil) }
}
