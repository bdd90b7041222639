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
@testable import FeedDeclarations
@testable import TributaryEngine

/// What a declaration says holds, from the first run on.
@Suite(.onEachStore) struct DeclarationTests {
    private static func mapping(_ options: String = "", sync: String = "mirror", of source: String = "s") -> String {
        """
        [[sources.\(source).requests]]
        url = "URL/\(source)"
        sync = "\(sync)"
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

    @Test func aConstantIsConvertedAsItsTypeSays() async throws {
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

    // MARK: - Defaults

    @Test func cacheAndHonorMaxAgeHaveDefaults() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let configuration = try fixture.configuration(
                "[defaults]\ncache = \"1h\"\nhonor_max_age = false\n[sources.a]\n"
                    + EngineFixture.request("/a", of: "a")
                    + "[sources.b]\ncache = \"5m\"\nhonor_max_age = true\n" + EngineFixture.request("/b", of: "b"))
            #expect(configuration.sources.map(\.cache) == [.seconds(3600), .seconds(300)])
            #expect(configuration.sources.map(\.honorsMaxAge) == [false, true])
            #expect(configuration.sources.map(\.hasOwnCache) == [true, true])
        }
    }

    @Test func freshWithinHasADefaultAndIsLongerThanCache() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let (a, b) = (EngineFixture.request("/a", of: "a"), EngineFixture.request("/b", of: "b"))
            let configuration = try fixture.configuration(
                "[defaults]\nfresh_within = \"2h\"\n[sources.a]\ncache = \"1h\"\n" + a
                    + "[sources.b]\nfresh_within = \"1d\"\nenabled = false\n" + b)
            #expect(configuration.sources.map(\.freshWithin) == [.seconds(7200), .seconds(86_400)])
            #expect(configuration.watched == WatchedSources(["a"], freshWithin: ["a": 7200]))
            let without = try fixture.configuration("[sources.a]\ncache = \"1h\"\n" + a)
            // The source is not due at once for it.
            #expect(without.sources[0].identity == configuration.sources[0].identity)
        }
        let request = EngineFixture.request("/a")
        try await EngineFixture.expectMistake(
            "[sources.s]\ncache = \"2h\"\nfresh_within = \"2h\"\n" + request, "sources.s.fresh_within: ")
        try await EngineFixture.expectMistake(
            "[defaults]\nfresh_within = \"2h\"\n[sources.s]\ncache = \"6h\"\n" + request,
            "sources.s.cache: the source would be stale between two good runs; 'fresh_within' must be longer than 'cache', 6h"
        )
        try await EngineFixture.expectMistake(
            "[sources.s]\nfresh_within = \"0s\"\n" + request, "sources.s.fresh_within: must be above 0")
    }

    @Test func twoColumnsDoNotNameOneParent() async throws {
        let tables = """
            [[sources.s.requests]]
            url = "URL/a"
            tables = [
                { table = "b", element = "b", key = ["id", "n"], columns = { id = "@id", n = "@n" } },
                { table = "c", element = "c", key = ["id", "n"], columns = { id = { parent = "b" }, n = { parent = "B" } } },
            ]
            """
        try await EngineFixture.expectMistake(tables, "the column 'id' names the parent 'B', too, and both would hold")
    }

    @Test(arguments: ["timeout", "connect_timeout"])
    func aTimeLimitIsAboveZero(key: String) async throws {
        try await EngineFixture.expectMistake(
            "[sources.s]\n\(key) = \"0s\"\n" + EngineFixture.request("/a"),
            "sources.s.\(key): expected a duration above 0, found '0s'")
    }

    @Test(arguments: ["postgres://u:secret@db/x", "https://example.org/store", "file:///tmp/x.sqlite"])
    func anAddressIsNoPath(path: String) async throws {
        try await withTemporaryFolder { folder in
            let text =
                "[store]\npath = \"\(path)\"\n"
                + EngineFixture.request("/a").replacingOccurrences(
                    of: "URL", with: "http://127.0.0.1")
            #expect {
                _ = try TributaryConfiguration(
                    file: folder.write(text, to: "sources.toml"), parsers: EngineFixture.registry, environment: [:])
            } throws: { error in
                "\(error)".contains("store.path: this is an address") && "\(error)".contains("'url'")
                    && !"\(error)".contains("secret")
            }
        }
    }

    // MARK: - JSON

    @Test func aBodyIsWrittenAsJSON() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/list", "<list token='a&quot;b\\'/>")
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let report = try await fixture.sync(
                """
                [[sources.s.requests]]
                url = "URL/list"
                capture = { token = "/list/@token" }
                [[sources.s.requests]]
                url = "URL/a"
                parser = "ItemsParser"
                [sources.s.requests.body.json]
                token = "${capture:token}"
                name = "x ${NAME}"
                count = 3
                ratio = 0.5
                since = 2026-01-02
                tags = ["a", "\\t"]
                none = []
                inner = { deep = true, "a \\"key\\"" = 1 }
                """, environment: ["NAME": "\"quoted\"\n"]
            ).first
            #expect(report?.error == nil)
            let request = fixture.server.requests("/a").first
            #expect(request?.method == "POST" && request?.headers["content-type"] == "application/json")
            #expect(
                request?.body
                    == #"{"token":"a\"b\\","name":"x \"quoted\"\n","count":3,"ratio":0.5,"since":"2026-01-02","tags":["a","\t"],"none":[],"inner":{"deep":true,"a \"key\"":1}}"#
            )
        }
    }

    @Test func whatJSONCannotHoldIsRefused() async throws {
        try await EngineFixture.expectMistake(
            EngineFixture.request("/a", "body = { json = { n = nan } }"), "body.json.n: JSON has no nan")
    }

    // MARK: - A schema that follows the mappings

    @Test func aSchemaMayRelyOnTheTablesOfMappings() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let schema = StoreKind.by(
                sqlite: """
                    CREATE VIEW IF NOT EXISTS names AS SELECT id, upper(area) AS name FROM place;
                    CREATE TABLE IF NOT EXISTS log (id TEXT);
                    CREATE TRIGGER IF NOT EXISTS logged AFTER INSERT ON place BEGIN INSERT INTO log VALUES (new.id); END;
                    """,
                postgres: """
                    CREATE OR REPLACE VIEW names AS SELECT id, upper(area) AS name FROM place;
                    CREATE TABLE IF NOT EXISTS log (id text);
                    CREATE OR REPLACE FUNCTION put_in_log() RETURNS trigger LANGUAGE plpgsql AS
                        $$ BEGIN INSERT INTO log VALUES (new.id); RETURN new; END $$;
                    CREATE OR REPLACE TRIGGER logged AFTER INSERT ON place FOR EACH ROW EXECUTE FUNCTION put_in_log();
                    """)
            try fixture.folder.write(schema, to: "after.sql")
            fixture.server.document("/s", "<r><p id='1' area='x'/></r>")
            let sources = "schema_after = \"after.sql\"\n" + Self.mapping("scope = { region = \"a\" }")
            for _ in 0..<2 { #expect(try await fixture.sync(sources).first?.error == nil) }
            #expect(try fixture.rows("SELECT id, name FROM names") == ["1|X"])
            #expect(try fixture.rows("SELECT id FROM log") == ["1"])
        }
    }

    /// What is left open is nobody's, and none of it stays. PostgreSQL runs a schema as one transaction, in which BEGIN does
    /// nothing.
    @Test(arguments: ["schema", "schema_after"])
    func aSchemaThatLeavesATransactionOpenIsRefused(key: String) async throws {
        guard StoreKind.current == .sqlite else { return }
        try await EngineFixture.with { (fixture) async throws in
            let sql = "CREATE TABLE IF NOT EXISTS company (id TEXT); BEGIN; CREATE TABLE IF NOT EXISTS q (a)"
            try fixture.folder.write(sql, to: key == "schema" ? "schema.sql" : "after.sql")
            let sources = (key == "schema" ? "" : "schema_after = \"after.sql\"\n") + EngineFixture.request("/a")
            let error = await #expect(throws: (any Error).self) { try await fixture.sync(sources) }
            #expect("\(String(describing: error))".contains("transaction"))
            #expect(try fixture.rows("SELECT name FROM sqlite_schema WHERE name = 'q'").isEmpty)
        }
    }

    @Test func aSchemaThatCannotFollowSaysWhy() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.folder.write("CREATE VIEW v AS SELECT missing FROM place; SELECT * FROM v", to: "after.sql")
            let sources = "schema_after = \"after.sql\"\n" + Self.mapping("scope = { region = \"a\" }")
            let error = await #expect(throws: ConfigurationError.self) { try await fixture.sync(sources) }
            #expect(error?.description.contains("store.schema_after") == true, "\(String(describing: error))")
            let problem = StoreKind.by(sqlite: "no such column: missing", postgres: "column \"missing\" does not exist")
            #expect(error?.description.contains(problem) == true, "\(String(describing: error))")
        }
    }

    /// What a request's rows depend on makes another fingerprint; where it stands in the file does not.
    @Test func aFingerprintFollowsTheDeclaration() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func fingerprint(_ mapping: String, before: String = "") throws -> String? {
                let configuration = try fixture.configuration(before + "[sources.s]\n" + mapping)
                return configuration.sources.last?.requests.first?.validity(parserVersion: 1)
            }
            let scope = "scope = { region = \"a\" }"
            let plain = Self.mapping(scope)
            let known = try fingerprint(plain)
            #expect(try fingerprint(plain, before: Self.mapping("scope = { region = \"z\" }", of: "other")) == known)
            let changed = [
                plain.replacingOccurrences(of: "zip = \"@zip\"", with: "zip = { path = \"@zip\", type = \"integer\" }"),
                plain.replacingOccurrences(of: "element = \"p\"", with: "element = \"q\""),
                plain.replacingOccurrences(of: "zip = \"@zip\"", with: "zip = { value = \"@zip\" }"),
                Self.mapping(scope + "\nnamespaces = { a = \"urn:a\" }"),
                Self.mapping(scope + "\ncapture = { token = \"/r/t\" }"),
                Self.mapping(scope + "\npage = { counter = \"n\" }"), Self.mapping(scope + "\nheaders = { A = \"1\" }"),
                Self.mapping(scope + "\nparameters = { a = \"1\" }"), Self.mapping("scope = { region = \"b\" }"),
                Self.mapping(scope, sync: "upsert"),
            ].map { try? fingerprint($0) }
            #expect(!changed.contains(known) && !changed.contains(nil) && Set(changed).count == changed.count)
        }
    }
}
