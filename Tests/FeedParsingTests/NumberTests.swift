import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine

/// Numbers as feeds write them, and as they compare.
@Suite struct NumberTests {
    private static func mapping(_ column: String) -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        tables = [{ table = "offer", element = "o", key = ["id"], columns = { id = { path = "@id", type = "integer" }, price = \(column) } }]
        """
    }

    private static func offers(_ prices: [String]) -> String {
        "<r>" + prices.enumerated().map { "<o id='\($0)'>\($1)</o>" }.joined() + "</r>"
    }

    @Test(.onEachStore) func aDecimalComparesAsANumberAndKeepsItsDigits() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let prices = ["9", "10.5", "8.50", "100", "0.1", "12345678901234567890.123456789", "-3"]
            fixture.server.document("/a", Self.offers(prices))
            let mapping = Self.mapping("{ path = \".\", type = \"decimal\" }")
            #expect(try await fixture.sync(mapping).first?.error == nil)
            #expect(
                try fixture.rows("SELECT price FROM offer WHERE price > 9 ORDER BY id") == ["10.5", "100", prices[5]])
            #expect(
                try fixture.rows("SELECT price FROM offer WHERE price < 8.6 ORDER BY price") == ["-3", "0.1", "8.5"])
            // Zeros at the end change nothing.
            fixture.server.document("/a", Self.offers(["9.00", "10.50", "8.5", "1e2", "0.1", prices[5], "-3.0"]))
            #expect(try await fixture.sync(mapping).first?.error?.contains("\"1e2\"") == true)
            fixture.server.document("/a", Self.offers(["9.00", "10.50", "8.5", "0100", "0.1", prices[5], "-3.0"]))
            #expect(try await fixture.sync(mapping).first?.counts.unchanged == 7)
        }
    }

    @Test(.onEachStore, arguments: ["NUMERIC", "FLOAT", "TEXT", "DECIMAL(10,2)", ""])
    func aColumnOfATableThatIsThereHoldsDecimals(type: String) async throws {
        // Columns of PostgreSQL's have a type, and a FLOAT is what a mapping creates for `real`.
        guard StoreKind.current == .sqlite || !["FLOAT", ""].contains(type) else { return }
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: "CREATE TABLE IF NOT EXISTS offer (id INTEGER PRIMARY KEY, price \(type));")
            fixture.server.document("/a", Self.offers(["9", "10.5"]))
            let mapping = Self.mapping("{ path = \".\", type = \"decimal\" }")
            #expect(try await fixture.sync(mapping).first?.error == nil)
            #expect(try fixture.rows("SELECT price FROM offer ORDER BY id") == [type == "FLOAT" ? "9.0" : "9", "10.5"])
            #expect(try await fixture.sync(mapping, mode: .full).first?.counts.unchanged == 2)
        }
    }

    /// What the mapping creates for other numbers would round decimals, and drop their digits.
    @Test(.onEachStore, arguments: ["REAL", "INTEGER"]) func aColumnThatRoundsTakesNoDecimals(type: String) async throws
    {
        try await EngineFixture.with { (fixture) async throws in
            let column = StoreKind.by(
                sqlite: type, postgres: type == "REAL" ? "double precision" : "bigint")
            try fixture.write(schema: "CREATE TABLE IF NOT EXISTS offer (id INTEGER PRIMARY KEY, price \(column));")
            fixture.server.document("/a", Self.offers(["9"]))
            let error = try await fixture.sync(Self.mapping("{ path = \".\", type = \"decimal\" }")).first?.error
            #expect(
                error?.contains(
                    "the mapping gives column 'price' of table 'offer' the type "
                        + StoreKind.by(sqlite: "decimal", postgres: "numeric") + ", and the store has it as \(column)")
                    == true, "\(error ?? "none")")
            let fitting = Self.mapping("{ path = \".\", type = \"\(type.lowercased())\" }")
            #expect(try await fixture.sync(fitting).first?.counts.inserted == 1)
        }
    }

    @Test(
        arguments: [
            (
                "decimal", "decimal_separator = \",\", group_separator = \".\"",
                ["1.234,50", "-0,5", "12", "1.234.567"], ["1234.5", "-0.5", "12", "1234567"]
            ),
            ("real", "decimal_separator = \",\"", ["1,5", "-2", "2,5e3"], ["1.5", "-2.0", "2500.0"]),
            ("integer", "group_separator = \".\"", ["1.234", "999"], ["1234", "999"]),
            ("integer", "group_separator = \" \"", ["1 234", "1\u{A0}234\u{202F}567"], ["1234", "1234567"]),
            ("decimal", "group_separator = \"'\"", ["1&apos;234.5"], ["1234.5"]),
            ("decimal", "group_separator = \",\"", ["12,34,567.5"], ["1234567.5"]),
        ] as [(String, String, [String], [String])])
    func numbersHaveTheSeparatorsOfTheirFeed(type: String, options: String, written: [String], expected: [String])
        async throws
    {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.offers(written))
            let mapping = Self.mapping("{ path = \".\", type = \"\(type)\", \(options), default = 7 }")
            let report = try await fixture.sync(mapping).first
            #expect(report?.error == nil)
            #expect(try fixture.rows("SELECT price FROM offer ORDER BY id") == expected)
        }
    }

    @Test(arguments: [
        ("decimal", "4,60", "; set decimal_separator = \",\""),
        ("real", "4,6", "; set decimal_separator = \",\""),
        ("decimal", "1,234", "; set decimal_separator = \",\" or group_separator = \",\""),
        ("decimal", "1,234.50", "; set group_separator = \",\""),
        ("decimal", "1.234,50", "; set decimal_separator = \",\" and group_separator = \".\""),
        ("decimal", "1 234,50", "; set decimal_separator = \",\" and group_separator = \" \""),
        ("integer", "1,234", "; set group_separator = \",\""),
        ("integer", "4.50", "; set type = \"decimal\" for such numbers"),
        ("integer", "99999999999999999999", "; set type = \"decimal\" for such numbers"),
        ("integer", "4,50", "; set type = \"decimal\" and decimal_separator = \",\" for such numbers"),
        ("decimal", "4 EUR", " is not a decimal number"), ("decimal", "x", " is not a decimal number"),
        ("integer", "x", " to 9223372036854775807"), ("date", "4,60", " write it"),
    ])
    func theKeysThatWouldReadANumberAreNamed(type: String, written: String, advice: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.offers([written]))
            let report = try await fixture.sync(Self.mapping("{ path = \".\", type = \"\(type)\" }")).first
            #expect(report?.error?.hasSuffix(advice) == true, "\(String(describing: report?.error))")
        }
    }

    @Test(arguments: ["1,234.5", "12.34", "1.2345", ".123", "1.234.", "1,2,3", "1..234", "1.23,4", "0.5"])
    func numbersWhoseGroupsAreNoneAreRefused(written: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.offers([written]))
            let separators = "decimal_separator = \",\", group_separator = \".\""
            let report = try await fixture.sync(Self.mapping("{ path = \".\", type = \"decimal\", \(separators) }"))
                .first
            #expect(report?.error?.contains("\"\(written)\"") == true, "\(String(describing: report?.error))")
        }
    }

    @Test(arguments: [
        "type = \"decimal\", decimal_separator = \",\", group_separator = \",\"",
        "type = \"decimal\", decimal_separator = \"\"", "type = \"decimal\", decimal_separator = \"-\"",
        "type = \"decimal\", group_separator = \"12\"",
    ])
    func separatorsThatCannotBeAreRefused(options: String) async throws {
        try await EngineFixture.expectMistake(
            Self.mapping("{ path = \".\", \(options) }"), "a separator is one character")
    }

    @Test func onlyNumbersHaveSeparators() async throws {
        try await EngineFixture.expectMistake(
            Self.mapping("{ path = \".\", type = \"date\", decimal_separator = \",\" }"), "requires type"
        )
    }

    /// A constant is written as the feed writes its values.
    @Test(.onEachStore) func aConstantIsConvertedAsItsTypeSays() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<r><i id='1'/></r>")
            let report = try await fixture.sync(
                """
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "t"
                element = "i"
                key = ["id"]
                [sources.s.requests.tables.columns]
                id = "@id"
                price = { value = "1,50", type = "decimal", decimal_separator = "," }
                count = { value = "1 234", type = "integer", group_separator = " " }
                flag = { value = "yes", type = "boolean" }
                day = { value = "Mon, 02 Feb 2026 10:00:00 GMT", type = "date" }
                text = { value = "yes" }
                number = { value = 7 }
                """
            ).first
            #expect(report?.error == nil)
            let type = StoreKind.by(sqlite: "typeof(price) = 'real'", postgres: "pg_typeof(price) = 'numeric'::regtype")
            #expect(
                try fixture.rows("SELECT price, \(type), count, flag, day, text, number FROM t")
                    == ["1.5|1|1234|1|2026-02-02|yes|7"])
        }
    }
}
