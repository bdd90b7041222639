import FeedExporting
import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Columns that are computed from others.
@Suite struct DerivedColumnTests {
    @Test(.onEachStore) func aPriceWithTax() async throws {
        try await DerivedFixture.expect(
            DerivedFixture.mapping(
                """
                id = "@id"
                price = { path = "@price", type = "decimal" }
                gross = { sql = "round(price * 1.19, 2)", type = "decimal" }
                """),
            DerivedFixture.items(
                "id='a' price='10.00'", "id='b' price='8.40'", "id='c'", "id='d' price='1000000000000'"),
            "SELECT id, CAST(gross AS TEXT) FROM thing ORDER BY id",
            ["a|11.9", StoreKind.by(sqlite: "b|10", postgres: "b|10"), "c|NULL", "d|1190000000000"])
    }

    /// The order in the file does not matter, and a column with a type is seen by others as that type.
    @Test(.onEachStore) func columnsThatNeedEachOther() async throws {
        try await DerivedFixture.expect(
            DerivedFixture.mapping(
                """
                label = { sql = "first || ' ' || last || CASE WHEN isRich THEN ' (rich)' ELSE '' END" }
                isRich = { sql = "balance > 9", type = "boolean" }
                balance = { sql = "split_part(money, ' ', 1)", type = "decimal" }
                last = { sql = "split_part(name, ',', 1)", stored = false }
                first = { sql = "trim(split_part(name, ',', 2))", stored = false }
                money = { path = "@money", stored = false }
                name = { path = "@name", stored = false }
                id = "@id"
                """),
            DerivedFixture.items(
                "id='a' name='Lovelace, Ada' money='10.50 EUR'", "id='b' name='Ünal, Örs' money='9 EUR'", "id='c'"),
            "SELECT id, label, CAST(balance AS TEXT) FROM thing ORDER BY id",
            ["a|Ada Lovelace (rich)|10.5", "b|Örs Ünal|9", "c|NULL|NULL"].map {
                StoreKind.by(sqlite: $0, postgres: $0.replacing("|10.5", with: "|10.50"))
            })
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", DerivedFixture.items("id='a' n='1'"))
            try await fixture.sync(
                DerivedFixture.mapping(
                    "id = \"@id\"\nn = { path = \"@n\", stored = false }\nm = { sql = \"n + 1\", type = \"integer\" }"))
            let dump = try fixture.dump().joined(separator: "\n")
            #expect(try fixture.rows("SELECT * FROM thing") == ["a|2"], "\(dump)")
        }
    }

    @Test(.onEachStore) func typesOfValuesAndOfColumns() async throws {
        try await DerivedFixture.expect(
            DerivedFixture.mapping(
                """
                id = "@id"
                n = { path = "@n", type = "integer", stored = false }
                t = { sql = "n + 0.5" }
                i = { sql = "n * 2.0", type = "integer" }
                r = { sql = "n / 2.0", type = "real" }
                d = { sql = "n * 1e18", type = "decimal" }
                e = { sql = "n / 1000000.0", type = "decimal" }
                b = { sql = "n > 1", type = "boolean" }
                day = { sql = "date('2026-01-01', '+' || n || ' days')", type = "date" }
                moment = { sql = "datetime(n, 'unixepoch')", type = "datetime" }
                x = { sql = "CAST(n AS BLOB)", type = "blob" }
                """),
            DerivedFixture.items("id='a' n='1'", "id='b' n='30'", "id='c' n=''"),
            StoreKind.by(
                sqlite: """
                    SELECT id, t, i, r, CAST(d AS TEXT), CAST(e AS TEXT), b, day, moment,
                    CASE WHEN x IS NOT NULL THEN hex(x) END FROM thing ORDER BY id
                    """,
                postgres: """
                    SELECT id, t, i, r, d::text, e::text, b::int, day::text,
                    to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), upper(encode(x, 'hex'))
                    FROM thing ORDER BY id
                    """),
            [
                "a|1.5|2|0.5|1000000000000000000|0.000001|0|2026-01-02|1970-01-01T00:00:01Z|31",
                "b|30.5|60|15.0|30000000000000000000|0.00003|1|2026-01-31|1970-01-01T00:00:30Z|3330",
                "c" + String(repeating: "|NULL", count: 9),
            ].map { row in
                let written = [
                    ("|30000000000000000000|", "|3.0e+19|"), ("|0.000001|", "|1.0e-06|"), ("|0.00003|", "|3.0e-05|"),
                ]
                return StoreKind.by(sqlite: written.reduce(row) { $0.replacing($1.0, with: $1.1) }, postgres: row)
            })
    }

    @Test func valuesOfAnotherTypeAreDealtWithAsTheColumnSays() async throws {
        func mapping(_ options: String) -> String {
            DerivedFixture.mapping(
                """
                id = "@id"
                text = { path = "@text", stored = false }
                n = { sql = "text", type = "integer"\(options) }
                """)
        }
        let document = DerivedFixture.items("id='a' text='5'", "id='b' text='1.5'", "id='c'")
        try await DerivedFixture.expectError(
            mapping(""), document, "line 2, <item> (id = \"b\"): column 'n' of table 'thing': \"1.5\" is not an integer"
        )
        let query = "SELECT id, n FROM thing ORDER BY id"
        try await DerivedFixture.expect(mapping(", on_error = \"null\""), document, query, ["a|5", "b|NULL", "c|NULL"])
        try await DerivedFixture.expect(
            mapping(", on_error = \"skip\""), document, query, ["a|5", "c|NULL"], skipped: 1)
        try await DerivedFixture.expect(
            mapping(", required = true, on_error = \"skip\""), document, query, ["a|5"], skipped: 2)
        try await DerivedFixture.expectError(
            mapping(", required = true"), DerivedFixture.items("id='a'"),
            "the required value is missing, its expression gives NULL")
    }

    /// Which of two records with one key counts is decided by the derived key, in memory and in the scratch database.
    @Test(.onEachStore, arguments: [10, 1000]) func derivedKeys(count: Int) async throws {
        let mapping = DerivedFixture.mapping(
            """
            code = { path = "@code", stored = false }
            id = { sql = "casefold(code)" }
            name = "@name"
            twice = { sql = "length(name) * 2", type = "integer" }
            """)
        let pad = String(repeating: "x", count: count * 3)
        func document(_ name: String) -> String {
            DerivedFixture.document(
                (0..<count).map { "code='Straße\($0)' name='old\(pad)'" }
                    + (0..<count / 2).map { "code='STRASSE\($0)' name='\(name)\(pad)'" })
        }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", document("new"))
            let report = try #require(try await fixture.sync(mapping).first)
            #expect(report.error == nil)
            #expect(report.counts.inserted == count && report.counts.replaced == count / 2)
            let sums = "SELECT substr(name, 1, 3), count(*), min(substr(id, 1, 7)), max(twice) FROM thing GROUP BY 1"
            let rows = try fixture.rows(sums + " ORDER BY 1")
            let twice = 2 * (pad.count + 3)
            #expect(
                rows == ["new|\(count / 2)|strasse|\(twice)", "old|\(count - count / 2)|strasse|\(twice)"])
            let again = try #require(try await fixture.sync(mapping, mode: .full).first)
            #expect(again.counts.updated == 0 && again.counts.unchanged == count)
        }
    }

    @Test(.onEachStore) func derivedScopes() async throws {
        func request(_ shop: String) -> String {
            DerivedFixture.mapping(
                """
                id = "@id"
                brand = { path = "@brand", stored = false }
                shop = { sql = "lower(brand)" }
                """, request: "sync = \"mirror\"\nscope = { shop = \"\(shop)\" }")
        }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", DerivedFixture.items("id='1' brand='ONE'", "id='2' brand='One'"))
            try await fixture.sync(request("one"))
            fixture.server.document("/a", DerivedFixture.items("id='3' brand='TWO'", "id='4'"))
            try await fixture.sync(request("two"))
            #expect(
                try fixture.rows("SELECT id, shop FROM thing ORDER BY id") == ["1|one", "2|one", "3|two", "4|two"])
            fixture.server.document("/a", DerivedFixture.items("id='2' brand='oNE'"))
            let report = try await fixture.sync(request("one")).first
            #expect(report?.counts.deleted == 1 && report?.error == nil)
            #expect(try fixture.rows("SELECT id FROM thing ORDER BY id") == ["2", "3", "4"])
        }
    }

    @Test(.onEachStore) func derivedReferences() async throws {
        func mapping(_ missing: String) -> String {
            DerivedFixture.mapping(
                """
                id = "@id"
                firm = { path = "@firm", stored = false }
                firm_id = { sql = "upper(trim(firm))", references = "firm(name)", missing = "\(missing)" }
                """)
        }
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS firm (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
                    CREATE TABLE IF NOT EXISTS thing (id TEXT PRIMARY KEY, firm_id INTEGER REFERENCES firm(id));
                    """)
            let names = "SELECT thing.id, name FROM thing LEFT JOIN firm ON firm.id = firm_id ORDER BY thing.id"
            fixture.server.document("/a", DerivedFixture.items("id='1' firm=' acme'", "id='2' firm='Acme'", "id='3'"))
            let created = try await fixture.sync(mapping("create")).first
            #expect(created?.error == nil)
            #expect(try fixture.rows(names) == ["1|ACME", "2|ACME", "3|NULL"])
            fixture.server.document("/a", DerivedFixture.items("id='1' firm='acme '", "id='2' firm='other'"))
            let nulled = try await fixture.sync(mapping("null")).first
            #expect(nulled?.error == nil)
            #expect(try fixture.rows(names) == ["1|ACME", "2|NULL"])
            fixture.server.document("/a", DerivedFixture.items("id='1' firm='none'"))
            let report = try await fixture.sync(mapping("discard")).first
            #expect(
                report?.error?.contains("with name = \"NONE\", which does not exist") == true, "\(report?.error ?? "")")
        }
    }

    @Test func childrenOfARecordWithADerivedKey() async throws {
        let mapping =
            DerivedFixture.mapping(
                "code = { path = \"@code\", stored = false }\nid = { sql = \"'o-' || code\" }", element: "order",
                table: "purchase")
                + """
                [[sources.s.requests.tables]]
                table = "line"
                element = "order/line"
                key = ["purchase", "n"]
                [sources.s.requests.tables.columns]
                purchase = { parent = "purchase" }
                n = { ordinal = true }
                label = { sql = "sku || '/' || n" }
                sku = { path = "@sku", stored = false }

                """
        try await DerivedFixture.expect(
            mapping,
            // The last of two orders with one key counts, with its own lines only.
            "<a><order code='1'><line sku='v'/><line sku='y'/></order><order code='2'><line sku='z'/></order>"
                + "<order code='1'><line sku='x'/></order></a>",
            "SELECT purchase, n, label FROM line ORDER BY 1, 2", ["o-1|1|x/1", "o-2|1|z/1"])
    }

    /// A changed expression makes the next request unconditional, and changes just what it changes.
    @Test func aChangedExpressionIsAppliedAtOnce() async throws {
        func mapping(_ factor: Int) -> String {
            DerivedFixture.mapping(
                """
                id = "@id"
                n = { path = "@n", type = "integer", stored = false }
                m = { sql = "max(n * \(factor), 10)", type = "integer" }
                """)
        }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", DerivedFixture.items("id='1' n='1'", "id='2' n='9'"), etag: "\"1\"")
            try await fixture.sync(mapping(2))
            #expect(try await fixture.sync(mapping(2)).first?.outcome == .unchanged)
            let report = try await fixture.sync(mapping(3)).first
            #expect(report?.counts.updated == 1 && report?.counts.unchanged == 1)
            #expect(try fixture.rows("SELECT id, m FROM thing ORDER BY id") == ["1|10", "2|27"])
        }
    }

    @Test func aDerivedColumnIsExportedWhereItSays() async throws {
        func mapping(_ export: String, _ stored: String = "") -> String {
            DerivedFixture.mapping(
                """
                id = "@id"
                price = { path = "price", type = "integer"\(stored) }
                gross = { sql = "price * 2", type = "integer"\(export) }
                """)
        }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<items><item id='1'><price>4</price></item></items>")
            try await fixture.sync(mapping(""))
            func export(_ mapping: String) throws -> String {
                let written = ByteCollector()
                try fixture.exporter(fixture.configuration(mapping)).export { written.append($0) }
                return String(decoding: written.bytes, as: UTF8.self)
            }
            #expect(try export(mapping("")).contains("<item id=\"1\"><price>4</price></item>"))
            let shown = try export(mapping(", export = \"price/@gross\""))
            #expect(shown.contains("<price gross=\"8\">4</price>"), "\(shown)")
            let hidden = try export(mapping(", export = \"@gross\"", ", stored = false"))
            #expect(hidden.contains("<item id=\"1\" gross=\"8\"/>"), "\(hidden)")
        }
    }

    /// A document that lacks what the filter needs would come back without its rows.
    @Test func aFilterOverWhatIsNotStoredIsNoExport() async throws {
        func mapping(_ filter: String, _ stored: String) -> String {
            DerivedFixture.mapping(
                """
                id = "@id"
                status = { path = "@status"\(stored) }
                state = { sql = "CASE status WHEN '1' THEN 'draft' ELSE 'on sale' END" }
                """, options: "where = \"\(filter)\"")
        }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<items><item id='1' status='1'/><item id='2' status='2'/></items>")
            func export(_ mapping: String, isTried: Bool = true) async throws -> String {
                try await fixture.sync(mapping)
                let written = ByteCollector()
                try fixture.exporter(fixture.configuration(mapping)).export(isTried: isTried) { written.append($0) }
                return String(decoding: written.bytes, as: UTF8.self)
            }
            for filter in ["status <> '1'", "state <> 'draft'"] {
                let error = await #expect(throws: ExportError.self) {
                    _ = try await export(mapping(filter, ", stored = false"))
                }
                #expect(error?.description.contains("'where' needs 'status', which the store does not hold") == true)
                #expect(try await export(mapping(filter, ", stored = false"), isTried: false).contains("id=\"2\""))
                #expect(try await export(mapping(filter, "")).contains("<item id=\"2\" status=\"2\"/>"))
            }
        }
    }

    @Test func derivedValuesOfJSON() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document(
                "/a", #"{"items": [{"id": "1", "name": "ÄRA"}, {"id": "2"}]}"#, type: "application/json")
            let report = try await fixture.sync(
                DerivedFixture.mapping(
                    "id = \"id\"\nname = { path = \"name\", stored = false }\nlow = { sql = \"lower(name)\" }",
                    element: "items")
            ).first
            #expect(report?.error == nil)
            #expect(try fixture.rows("SELECT id, low FROM thing ORDER BY id") == ["1|ära", "2|NULL"])
        }
    }
}
