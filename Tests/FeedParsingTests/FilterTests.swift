import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Records that a table's `where` skips, and mistakes in expressions.
@Suite struct FilterTests {
    private static func mapping(_ filter: String, _ columns: String = "") -> String {
        DerivedFixture.mapping(
            """
            id = "@id"
            price = { path = "@price", type = "decimal" }
            sale = { path = "@sale", type = "decimal" }
            \(columns)
            """, options: "where = \"\(filter)\"")
    }

    /// What is skipped is not in the feed, and a mirror deletes it.
    @Test(.onEachStore, arguments: [3, 1500]) func aMirrorDeletesWhatIsSkipped(count: Int) async throws {
        let pad = String(repeating: "x", count: count)
        func document(_ price: (Int) -> String) -> String {
            DerivedFixture.document((0..<count).map { "id='\($0)' pad='\($0)\(pad)' price='\(price($0))'" })
        }
        let mapping = DerivedFixture.mapping(
            "id = \"@id\"\npad = \"@pad\"\nprice = { path = \"@price\", type = \"decimal\" }",
            options: "where = \"price > 9\"",
            request: "sync = \"mirror\"\nmax_deleted = \"100%\"")
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", document { _ in "10.5" })
            let first = try #require(try await fixture.sync(mapping).first)
            #expect(first.error == nil)
            #expect(first.counts.inserted == count && first.skipped == 0)
            // NULL and 9 are not more than 9.
            fixture.server.document("/a", document { $0 % 3 == 0 ? "" : $0 % 3 == 1 ? "9.00" : "10.50" })
            let second = try #require(try await fixture.sync(mapping).first)
            #expect(second.error == nil)
            #expect(second.counts.deleted == count - count / 3 && second.skipped == count - count / 3)
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["\(count / 3)"])
        }
    }

    @Test func decimalsAreComparedAsNumbers() async throws {
        let document = DerivedFixture.items(
            "id='1' price='10.00' sale='9.50'", "id='2' price='0.00'", "id='3' price='-1'", "id='4' sale='100.10'")
        let query = "SELECT id FROM thing ORDER BY id"
        for (filter, rows, skipped) in [
            ("price > 0", ["1"], 3), ("coalesce(sale, price) > 9.6", ["4"], 3), ("max(price, sale) > 9.75", ["1"], 3),
            ("price = '10'", ["1"], 3), ("price IS NULL", ["4"], 3), ("NOT price > 0", ["2", "3"], 2),
            ("id IN ('2', 3)", ["2", "3"], 2), ("0", [], 4), ("NULL", [], 4),
        ] {
            try await DerivedFixture.expect(
                Self.mapping(filter).replacing("url =", with: "allow_empty = true\nurl ="), document, query, rows,
                skipped: skipped)
        }
    }

    /// A record without a key is left out by a filter, and a mistake where it passes.
    @Test func aFilterMayLeaveOutRecordsWithoutAKey() async throws {
        let document = DerivedFixture.items("id='1' price='2'", "price='3'", "id='4' price=''")
        try await DerivedFixture.expect(
            Self.mapping("id IS NOT NULL"), document, "SELECT id FROM thing ORDER BY id", ["1", "4"], skipped: 1)
        try await DerivedFixture.expectError(Self.mapping("price > 0"), document, "the key is missing")
    }

    /// Expressions see only records that pass the filter, unless the filter needs them.
    @Test func theFilterComesFirst() async throws {
        let columns = """
            kind = { path = "@kind", stored = false }
            body = { path = "@body", stored = false }
            size = { sql = "json_extract(body, '$.size')", type = "integer" }
            low = { sql = "lower(kind)", stored = false }
            """
        let document = DerivedFixture.items(
            "id='1' kind='JSON' body='{&quot;size&quot;: 3}'", "id='2' kind='text' body='{'")
        try await DerivedFixture.expect(
            Self.mapping("low = 'json'", columns), document, "SELECT id, size FROM thing", ["1|3"], skipped: 1)
        try await DerivedFixture.expectError(
            Self.mapping("low <> ''", columns), document,
            "line 2, <item>: column 'size' of table 'thing': the expression fails: malformed JSON")
        try await DerivedFixture.expectError(
            Self.mapping("json_extract(body, '$.size') > 1", "body = { path = \"@body\", stored = false }"), document,
            "request '1': line 2, <item>: 'where' of table 'thing': the expression fails: malformed JSON")
        try await DerivedFixture.expectError(
            Self.mapping("id REGEXP kind", "kind = { path = \"@kind\", stored = false }"),
            DerivedFixture.items("id='1' kind='1'", "id='2' kind='('"), "'(' is not a regular expression")
        try await DerivedFixture.expectError(
            Self.mapping("date(kind) > '2026'", "kind = { path = \"@kind\", stored = false }"),
            DerivedFixture.items("id='1' kind='2027-01-01'", "id='2' kind='now'"), "'now' is the present")
    }

    @Test func aPlanKnowsThem() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", DerivedFixture.items("id='1' price='1.00'", "id='2'"))
            let mapping = Self.mapping("price > 0", "twice = { sql = \"price * 2\", type = \"decimal\" }")
            let service = try fixture.service(mapping, clock: SystemClock())
            let source = try #require(try fixture.configuration(mapping)[source: "s"])
            let plan = try await service.plan(source, bodies: [:], ignoresValidators: true) { _ in }
            #expect(plan.counts.inserted == 1 && plan.skipped == 1)
            let unmatched = plan.columns.map(\.path)
            #expect(!unmatched.contains("thing.twice"), "\(unmatched)")
            try service.store.close()
        }
    }

    // MARK: - Mistakes

    private static func expectMistake(
        sql: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await EngineFixture.expectMistake(
            mapping("1", "n = { sql = \"\(sql)\" }"), expected, sourceLocation: sourceLocation)
        try await EngineFixture.expectMistake(mapping(sql), "tables[1].where: ", sourceLocation: sourceLocation)
        try await EngineFixture.expectMistake(mapping(sql), expected, sourceLocation: sourceLocation)
    }

    @Test func mistakesAreFoundWhenTheFileIsRead() async throws {
        for (sql, expected) in [
            ("pric * 2", "'pric' is not a column of the record; did you mean 'price'?"),
            ("rowid", "'rowid' is not a column of the record"),
            ("lowr(id)", "SQLite has no function 'lowr'; did you mean 'lower'?"),
            ("(SELECT count(*) FROM sqlite_schema)", "no subquery, aggregate, window function or parameter is allowed"),
            ("id IN (SELECT 1)", "no subquery"), ("count(*)", "no subquery, aggregate"),
            ("row_number() OVER ()", "no subquery, aggregate, window"), ("?1", "parameter is allowed"),
            (":id", "parameter is allowed"), ("random()", "'random' must not be used"),
            ("current_timestamp", "'current_timestamp' must not be used"),
            ("load_extension('x')", "'load_extension' must not be used"), ("date('now')", "'now' is the present"),
            ("id REGEXP '('", "'(' is not a regular expression: '(' without ')'"),
            ("price +", "is not an SQL expression"), ("1), m AS (2", "is no"),
            ("1; SELECT 2", "is not an SQL expression"),
            ("1) FROM record --", "is no"), ("", "is not an SQL expression"), ("id, price", "is no"),
        ] {
            try await Self.expectMistake(sql: sql, expected)
        }
        try await EngineFixture.expectMistake(
            Self.mapping("1", "n = { sql = \"pric\" }"),
            "sources.toml:16: sources.s.requests[1].tables[1].columns.n.sql: ")
        try await EngineFixture.expectMistake(
            Self.mapping("1", "a = { sql = \"b\" }\nb = { sql = \"c || 1\" }\nc = { sql = \"a\" }"),
            "in a circle: a needs b needs c needs a")
        try await EngineFixture.expectMistake(
            Self.mapping("1", "a = { sql = \"a\" }"), "in a circle: a needs a")
    }

    @Test func allMistakesOfAnExpressionAreFound() async throws {
        let sql = "lowr(nam) || random() || pric || lowr(pric) || uper(id)"
        for expected in [
            "SQLite has no function 'lowr'; did you mean 'lower'?", "'nam' is not a column of the record",
            "'random' must not be used", "'pric' is not a column of the record; did you mean 'price'?",
            "SQLite has no function 'uper'; did you mean 'upper'?",
        ] {
            try await Self.expectMistake(sql: sql, expected)
        }
        // What was reported of one is still unknown in the next.
        try await EngineFixture.expectMistake(
            Self.mapping("lowr(id)", "n = { sql = \"lowr(id)\" }"), "columns.n.sql: SQLite has no function 'lowr'")
        try await EngineFixture.expectMistake(
            Self.mapping("lowr(id)", "n = { sql = \"lowr(id)\" }"), "where: SQLite has no function 'lowr'")
    }

    @Test func optionsThatDoNotGoTogether() async throws {
        for (columns, expected) in [
            ("n = { sql = \"id\", path = \"x\" }", "found 'path' and 'sql'; give only one"),
            ("n = { sql = \"id\", default = \"x\" }", "default: requires 'path', 'row' or 'capture'"),
            ("n = { sql = \"id\", type = \"xml\" }", "an expression has no markup"),
            ("n = { sql = \"id\", export = true }", "export: expected the path of the value in exported XML"),
            ("n = { path = \"x\", export = \"y\" }", "export: expected true or false"),
            (
                "n = { path = \"x\", stored = false, encrypted = true }",
                "has no effect on a column that is not stored"
            ),
            (
                "n = { sql = \"id\", type = \"real\", decimal_separator = \",\" }",
                "an expression gets the number itself"
            ),
        ] {
            try await EngineFixture.expectMistake(Self.mapping("1", columns), expected)
        }
        try await EngineFixture.expectMistake(
            DerivedFixture.mapping("id = { path = \"@id\", stored = false }\nn = { sql = \"id\" }"),
            "key: 'id' is not stored")
        try await EngineFixture.expectMistake(
            DerivedFixture.mapping("id = \"@id\"\nn = { path = \"@id\", stored = false }"),
            "no expression uses the column")
        try await EngineFixture.expectMistake(
            "[[sources.s.requests]]\nurl = \"URL/a\"\ntables = [{ table = \"item\", element = \"item\", where = \"1\" }]",
            "where: requires 'columns': it is an expression over the record's columns")
    }
}
