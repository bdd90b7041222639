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
@testable import FeedExporting
@testable import TributaryEngine

/// Mappings declared in `sources.toml`, over documents of a real server into a real store.
@Suite struct MappingTests {
    /// Syncs a document by a request's declaration, given without its url.
    private func sync(
        _ fixture: EngineFixture, _ document: String, _ request: String, environment: [String: String] = [:]
    ) async throws -> RunReport {
        fixture.server.document("/feed", document)
        let source = "[sources.s]\n[[sources.s.requests]]\nurl = \"URL/feed\"\n" + request
        return try #require(try await fixture.sync(source, mode: .full, environment: environment).first)
    }

    private func table(_ name: String, _ element: String, _ options: String, columns: String) -> String {
        """
        [[sources.s.requests.tables]]
        table = "\(name)"
        element = "\(element)"
        \(options)
        [sources.s.requests.tables.columns]
        \(columns)

        """
    }

    /// RSS with an address of its own in Atom's words before the real one. A value that is not empty wins over an empty
    /// one before it, and `{}` means no namespace.
    @Test func anEmptyFindYieldsAndBracesMeanNoNamespace() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = table(
                "item", "item", #"key = ["id"]"#,
                columns: """
                    id = "@{}id"
                    link = "link"
                    plain = "{}link"
                    title = { path = "title", type = "xml" }
                    text = "string(title)"
                    kind = { path = "kind", type = "integer", default = 7 }
                    shop = "../shop"
                    size = "size/@of"
                    """)
            let document = """
                <rss xmlns:atom="http://www.w3.org/2005/Atom" xmlns:x="urn:x"><shop/><shop>S</shop>
                <item x:id="no" id="1"><atom:link href="a"/><link>http://e.org/1</link><title/><title>T <b>b</b></title>
                <kind/><kind>3</kind><size of=""/><size of="4"/></item>
                <item id="2" x:id="no"><atom:link>atom</atom:link><link/><link>plain</link><title> </title><title>U</title>
                <kind> </kind></item></rss>
                """
            let report = try await sync(fixture, document, mapping)
            #expect(report.error == nil, "\(report)")
            #expect(
                try fixture.rows("SELECT id, link, plain, title, text, kind, shop, size FROM item ORDER BY id") == [
                    "1|http://e.org/1|http://e.org/1|<title/>|T b|3|S|4",
                    "2|atom|plain|<title> </title>|U|7|S|NULL",
                ])
        }
    }

    @Test(.onEachStore) func rowsOfSeveralTablesTakeValuesFromAboveBelowAndBeside() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping =
                "sync = \"mirror\"\n"
                + table(
                    "orders", "order", #"key = ["number"]"#,
                    columns: """
                        number = { path = "@nr", type = "integer" }
                        buyer = "buyer/name"
                        placed = { path = "placed", type = "date" }
                        origin = { value = "shop" }
                        """)
                + table(
                    "line", "order/lines/line", #"key = ["order_number", "position"]"#,
                    columns: """
                        order_number = { parent = "orders" }
                        position = { ordinal = true }
                        sku = "@sku"
                        buyer = "../../buyer/name"
                        edition = "../../../edition"
                        text = "string(note)"
                        markup = { path = "note", type = "xml" }
                        feed = { response = "url" }
                        """)
            let document = """
                <shop><order nr="1"><lines><line sku="a"><note>so <b>bold</b> <i>it</i></note></line><line sku="b"/></lines>
                <buyer><name> Ann </name></buyer><placed>2026-11-21T23:30:00-05:00</placed></order>
                <order nr="2"><buyer><name/></buyer><lines><line sku="c"/></lines></order><edition>7</edition></shop>
                """
            let report = try await sync(fixture, document, mapping)
            #expect(report.counts.inserted == 5, "\(report)")
            #expect(
                try fixture.rows("SELECT number, buyer, placed, origin FROM orders ORDER BY number") == [
                    "1|Ann|2026-11-21|shop", "2||NULL|shop",
                ])
            #expect(
                try fixture.rows(
                    "SELECT order_number, position, sku, buyer, edition, text, markup FROM line ORDER BY 1, 2")
                    == [
                        "1|1|a|Ann|7|so bold it|<note>so <b>bold</b> <i>it</i></note>", "1|2|b|Ann|7|NULL|NULL",
                        "2|1|c||7|NULL|NULL",
                    ])
            #expect(try fixture.rows("SELECT DISTINCT feed FROM line") == ["\(fixture.server.url)/feed"])
            #expect(try await sync(fixture, document, mapping).counts.unchanged == 5)
        }
    }

    @Test func repeatedValuesPredicatesAndNamespaces() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping =
                "namespaces = { g = \"urn:g\" }\n"
                + table(
                    "entry", "entry", #"key = ["id"]"#,
                    columns: """
                        id = "id"
                        first = "tag"
                        last = { path = "tag", repeat = "last" }
                        all = { path = "tag", repeat = "join", separator = ", " }
                        link = "link[@rel='alternate']/@href"
                        other = "link[@rel!='alternate']/@href"
                        price = { path = "g:price", type = "decimal" }
                        any = "*"
                        """)
            let document = """
                <feed xmlns:x="urn:g"><entry><id>1</id><tag>a</tag><tag>b</tag><tag>c</tag><price>9</price>
                <link rel="self" href="/self"/><link rel="alternate" href="/1"/><x:price>1.50</x:price></entry></feed>
                """
            #expect(try await sync(fixture, document, mapping).outcome == .committed)
            #expect(
                try fixture.rows("SELECT first, last, \"all\", link, other, price, \"any\" FROM entry") == [
                    "a|c|a, b, c|/1|/self|1.5|1"
                ])
        }
    }

    @Test(.onEachStore) func recordsWithinRecordsOfTheirOwnKind() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = table(
                "category", "category", #"key = ["id"]"#,
                columns: "id = \"@id\"\nname = \"name\"\nparent = { parent = \"category\" }")
            let document = """
                <c><category id="1"><category id="2"><category id="3"><name>C</name></category><name>B</name></category>
                <name>A</name></category></c>
                """
            #expect(try await sync(fixture, document, mapping).outcome == .committed)
            #expect(
                try fixture.rows("SELECT id, name, parent FROM category ORDER BY id") == ["1|A|NULL", "2|B|1", "3|C|2"])
            #expect(try await roundTrip(fixture, mapping) == 0)
        }
    }

    @Test(.onEachStore) func keysThatTheStoreGeneratesLeadFromChildToParent() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping =
                "sync = \"mirror\"\n" + table("shelf", "shelf", "", columns: "name = \"@name\"")
                + table("book", "book", "", columns: "shelf = { parent = \"shelf\" }\ntitle = \".\"")
                + table("mark", "shelf/book/mark", "", columns: "book = { parent = \"book\" }\npage = \"@page\"")
            func document(_ page: Int) -> String {
                """
                <l><shelf name="x"><book>A<mark page="1"/><mark page="\(page)"/></book></shelf>
                <shelf name="y"><book>A<mark page="1"/></book></shelf></l>
                """
            }
            #expect(try await sync(fixture, document(2), mapping).counts.inserted == 7)
            let joined = """
                SELECT shelf.name, book.title, mark.page FROM mark JOIN book ON book.id = mark.book
                JOIN shelf ON shelf.id = book.shelf ORDER BY 1, 3
                """
            #expect(try fixture.rows(joined) == ["x|A|1", "x|A|2", "y|A|1"])
            #expect(try await sync(fixture, document(2), mapping).counts.unchanged == 7)
            let report = try await sync(fixture, document(3), mapping)
            #expect(report.counts.inserted == 1 && report.counts.deleted == 1 && report.counts.unchanged == 6)
            #expect(try fixture.rows(joined) == ["x|A|1", "x|A|3", "y|A|1"])
            #expect(try await roundTrip(fixture, mapping) == 0)
        }
    }

    @Test(.onEachStore) func childrenAreMirroredWithinTheParentsThatWereSent() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping =
                table("parent", "parent", #"key = ["id"]"#, columns: "id = \"@id\"")
                + table(
                    "child", "child", "key = [\"parent\", \"name\"]\nwithin = \"parent\"",
                    columns: "parent = { parent = \"parent\" }\nname = \"@name\"")
            _ = try await sync(
                fixture,
                "<f><parent id='1'><child name='a'/><child name='b'/></parent><parent id='2'><child name='c'/></parent></f>",
                mapping)
            let report = try await sync(fixture, "<f><parent id='1'><child name='b'/></parent></f>", mapping)
            #expect(report.counts.deleted == 1, "\(report)")
            #expect(try fixture.rows("SELECT * FROM child ORDER BY 1, 2") == ["1|b", "2|c"])
            let emptied = try await sync(fixture, "<f><parent id='2'/></f>", mapping)
            #expect(emptied.counts.deleted == 1, "\(emptied)")
            #expect(try fixture.rows("SELECT * FROM child") == ["1|b"])
        }
    }

    static let companies = """
        CREATE TABLE IF NOT EXISTS firm (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT);
        INSERT INTO firm VALUES (7, 'Acme', 'Rome') ON CONFLICT DO NOTHING;
        """

    @Test(
        .onEachStore,
        arguments: [
            ("missing = \"create\", set = { city = \"firm/@city\" }", "1|7,2|8", "7|Acme|Rome,8|Umbra|Oslo"),
            (
                "missing = \"create\", set = { city = \"firm/@city\" }, update = true", "1|7,2|8",
                "7|Acme|Bonn,8|Umbra|Oslo"
            ),
            ("missing = \"null\"", "1|7,2|NULL", "7|Acme|Rome"),
        ])
    func referencesByAnotherColumn(options: String, people: String, firms: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: Self.companies)
            let mapping = table(
                "person", "person", #"key = ["id"]"#,
                columns: "id = \"@id\"\nfirm_id = { path = \"firm\", references = \"firm(name)\", \(options) }")
            let document = """
                <p><person id='1'><firm city='Bonn'>Acme</firm></person><person id='2'><firm city='Oslo'>Umbra</firm></person></p>
                """
            #expect(try await sync(fixture, document, mapping).outcome == .committed)
            // SQLite's next key follows the greatest, PostgreSQL's the last that it has made.
            let key = StoreKind.by(sqlite: "8", postgres: "1")
            #expect(
                try fixture.rows("SELECT id, firm_id FROM person ORDER BY id").joined(separator: ",")
                    == people.replacing("8", with: key))
            #expect(
                try fixture.rows("SELECT * FROM firm ORDER BY name").joined(separator: ",")
                    == firms.replacing("8", with: key))
            let again = try await sync(fixture, document, mapping)
            #expect(again.counts.inserted + again.counts.updated + again.counts.deleted == 0, "\(again)")
            #expect(try await roundTrip(fixture, mapping) == 0)
        }
    }

    /// Records of the feed give way to later ones; rows that are looked up again and again do not.
    @Test(.onEachStore) func onlyRecordsAreReplaced() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: Self.companies)
            let mapping = table(
                "person", "person", #"key = ["id"]"#,
                columns:
                    "id = \"@id\"\nfirm_id = { path = \"firm\", references = \"firm(name)\", missing = \"create\" }")
            let persons = ["1", "2", "3", "2"].map { "<person id='\($0)'><firm>Umbra</firm></person>" }.joined()
            let report = try await sync(fixture, "<p>\(persons)</p>", mapping)
            #expect(report.error == nil && report.counts.replaced == 1, "\(report)")
            #expect(try fixture.rows("SELECT count(*) FROM person") == ["3"])
        }
    }

    /// A row could not be found again by a key with a NULL in it: each sync would insert it once more.
    @Test(.onEachStore, arguments: ["firm='Nobody'", ""])
    func aKeyWithoutItsReferenceDiscards(firm: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: Self.companies
                    + "CREATE TABLE IF NOT EXISTS line (firm_id INTEGER REFERENCES firm, n TEXT, UNIQUE (firm_id, n));")
            let mapping = table(
                "line", "line", #"key = ["firm_id", "n"]"#,
                columns: "n = \"@n\"\nfirm_id = { path = \"@firm\", references = \"firm(name)\", missing = \"null\" }")
            let report = try await sync(fixture, "<p><line n='1' firm='Acme'/><line n='2' \(firm)/></p>", mapping)
            #expect(report.outcome == .discarded)
            #expect(report.error?.contains("firm_id'") == true, "\(report)")
            #expect(try fixture.rows("SELECT * FROM line").isEmpty)
            let whole = try await sync(fixture, "<p><line n='1' firm='Acme'/></p>", mapping)
            #expect(whole.counts.inserted == 1, "\(whole)")
        }
    }

    /// Which rows the store has of the child is known only when the parent has its new name.
    @Test(.onEachStore) func aRowWhoseParentIsRenamedStays() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS shop (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
                    CREATE TABLE IF NOT EXISTS shelf (
                        id INTEGER PRIMARY KEY, shop INTEGER REFERENCES shop, n INTEGER, UNIQUE (shop, n));
                    CREATE TABLE IF NOT EXISTS label (id TEXT PRIMARY KEY, shelf INTEGER REFERENCES shelf ON DELETE CASCADE);
                    """)
            let mapping =
                "sync = \"mirror\"\n"
                + table("shop", "shop", #"key = ["id"]"#, columns: "id = \"@id\"\ncode = \"@code\"")
                + table(
                    "shelf", "shelf", #"key = ["shop", "n"]"#,
                    columns: "shop = { path = \"@shop\", references = \"shop(code)\" }\nn = \"@n\"")
                + table("label", "label", #"key = ["id"]"#, columns: "id = \"@id\"\nshelf = \"@shelf\"")
            func document(_ code: String) -> String {
                "<d><shop id='1' code='\(code)'/><shelf shop='\(code)' n='7'/><label id='l' shelf='1'/></d>"
            }
            #expect(try await sync(fixture, document("a"), mapping).outcome == .committed)
            let renamed = try await sync(fixture, document("b"), mapping)
            #expect(renamed.outcome == .committed && renamed.counts.deleted == 0, "\(renamed)")
            #expect(try fixture.rows("SELECT id, shop, n FROM shelf") == ["1|1|7"])
            #expect(try fixture.rows("SELECT id, shelf FROM label") == ["l|1"])
        }
    }

    @Test(.onEachStore) func aReferenceToNothingDiscards() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: Self.companies)
            let mapping = table(
                "person", "person", #"key = ["id"]"#,
                columns: "id = \"@id\"\nfirm_id = { path = \"@firm\", references = \"firm(name)\" }")
            let report = try await sync(fixture, "<p><person id='1' firm='Nobody'/></p>", mapping)
            #expect(report.outcome == .discarded)
            #expect(
                report.error?.contains(
                    "'firm_id' refers to a row of table 'firm' with name = \"Nobody\", which does not exist")
                    == true, "\(report.error ?? "")")
        }
    }

    @Test func valuesThatDoNotConvertAreDealtWithAsTheColumnSays() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func mapping(_ onError: String) -> String {
                table(
                    "t", "r", #"key = ["id"]"#,
                    columns: "id = \"@id\"\nn = { path = \"n\", type = \"integer\", on_error = \"\(onError)\" }")
            }
            let document = "<f>\n<r id='1'><n>x</n></r>\n<r id='2'><n/></r><r id='3'><n> 4 </n></r></f>"
            let discarded = try await sync(fixture, document, mapping("discard"))
            #expect(
                discarded.error?.contains("line 2, <r> (id = \"1\"): column 'n' of table 't': \"x\" is not an integer")
                    == true,
                "\(discarded.error ?? "")")
            #expect(try await sync(fixture, document, mapping("skip")).skipped == 1)
            #expect(try fixture.rows("SELECT * FROM t ORDER BY id") == ["2|NULL", "3|4"])
            #expect(try await sync(fixture, document, mapping("null")).skipped == 0)
            #expect(try fixture.rows("SELECT * FROM t ORDER BY id") == ["1|NULL", "2|NULL", "3|4"])
        }
    }

    @Test(.onEachStore) func typesFormatsEnumerationsAndDefaults() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = table(
                "t", "r", #"key = ["id"]"#,
                columns: """
                    id = "@id"
                    day = { path = "day", type = "date", format = "%d.%m.%Y" }
                    at = { path = "at", type = "datetime", format = "dd/MMM/yyyy HH:mm Z" }
                    rfc = { path = "rfc", type = "datetime" }
                    flag = { path = "flag", type = "boolean" }
                    state = { path = "state", values = { open = 1, closed = 2 } }
                    hex = { path = "hex", type = "blob", format = "hex" }
                    price = { path = "price", type = "decimal" }
                    lang = { path = "@lang", default = "en" }
                    """)
            let document = """
                <f><r id='1'><day>5.2.2026</day><at>21/Nov/2026 08:30 +0130</at><rfc>Sat, 21 Nov 2026 08:30:00 GMT</rfc>
                <flag>Yes</flag><state>closed</state><hex>DEad be</hex><price>0.10000000000000000001</price></r></f>
                """
            let report = try await sync(fixture, document, mapping)
            #expect(report.outcome == .committed, "\(report)")
            #expect(
                try fixture.rows("SELECT day, at, rfc, flag, state, hex, price, lang FROM t") == [
                    "2026-02-05|2026-11-21T07:00:00Z|2026-11-21T08:30:00Z|1|2|3 bytes|0.10000000000000000001|en"
                ])
            #expect(try await roundTrip(fixture, mapping) == 0)
        }
    }

    @Test func aMappingThatMatchesNothingDiscards() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let tables = table("t", "item", #"key = ["id"]"#, columns: "id = \"@id\"")
            let report = try await sync(fixture, "<feed><entry id='1'/></feed>", "sync = \"mirror\"\n" + tables)
            #expect(report.error?.contains("no element of the document is 'item'; it has /feed, /feed/entry") == true)
            let wrongRoot = try await sync(fixture, "<feed><item id='1'/></feed>", "root = \"rss\"\n" + tables)
            #expect(wrongRoot.error?.contains("the root element is <feed>, expected <rss>") == true)
            #expect(
                try await sync(fixture, "<f><item id='1'/></f>", "sync = \"mirror\"\n" + tables).outcome == .committed)
            let allowed = try await sync(fixture, "<f/>", "sync = \"mirror\"\nallow_empty = true\n" + tables)
            #expect(allowed.counts.deleted == 1, "\(allowed)")
        }
    }

    @Test(.onEachStore) func whatIsNotToBeOverwrittenIsWrittenOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = table(
                "t", "r", #"key = ["id"]"#,
                columns: "id = \"@id\"\na = \"@a\"\nb = { path = \"@b\", overwrite = false }")
            _ = try await sync(fixture, "<f><r id='1' a='1' b='1'/></f>", mapping)
            #expect(try await sync(fixture, "<f><r id='1' a='1' b='2'/></f>", mapping).counts.unchanged == 1)
            _ = try await sync(fixture, "<f><r id='1' a='2' b='2'/></f>", mapping)
            #expect(try fixture.rows("SELECT * FROM t") == ["1|2|1"])
        }
    }

    @Test(.onEachStore) func encryptedColumnsAreCiphertextInTheStoreAndPlainInTheExport() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = table(
                "t", "r", #"key = ["id"]"#, columns: "id = \"@id\"\nsecret = { path = \".\", encrypted = true }")
            let key = String(repeating: "0f", count: 32)
            let source = "[sources.s]\n[[sources.s.requests]]\nurl = \"URL/feed\"\n" + mapping
            fixture.server.document("/feed", "<f><r id='1'>geheim</r><r id='2'>geheim</r></f>")
            let text = source.replacingOccurrences(
                of: "[sources.s]\n", with: "encryption_key = \"${KEY}\"\n[sources.s]\n")
            let reports = try await fixture.sync(text, mode: .full, environment: ["KEY": key])
            #expect(reports.first?.outcome == .committed, "\(reports)")
            #expect(try fixture.rows("SELECT DISTINCT length(secret) FROM t") == ["34"])
            #expect(try fixture.rows("SELECT count(DISTINCT secret) FROM t") == ["1"])
            let again = try await fixture.sync(text, mode: .full, environment: ["KEY": key])
            #expect(again.first?.counts.unchanged == 2)
            let configuration = try fixture.configuration(text, environment: ["KEY": key])
            #expect(try export(fixture, configuration).contains("<r id=\"1\">geheim</r>"))
            let other = try fixture.configuration(text, environment: ["KEY": String(repeating: "1f", count: 32)])
            #expect(throws: ExportError.self) { try export(fixture, other) }
        }
    }

    @Test(arguments: ["", ", on_error = \"skip\""])
    func noMessageHasTheValueOfAnEncryptedColumn(rule: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = table(
                "t", "r", #"key = ["id"]"#,
                columns: "id = \"@id\"\npin = { path = \"@pin\", type = \"integer\", encrypted = true\(rule) }")
            let key = String(repeating: "0f", count: 32)
            fixture.server.document("/feed", "<f><r id='1' pin='1'/><r id='2' pin='geheim'/></f>")
            let reports = try await fixture.sync(
                "encryption_key = \"${KEY}\"\n[sources.s]\n[[sources.s.requests]]\nurl = \"URL/feed\"\n" + mapping,
                environment: ["KEY": key])
            let report = try #require(reports.first)
            #expect("\(report)".contains("the value, which is not shown because"), "\(report)")
            #expect(!"\(report)".contains("geheim"), "\(report)")
            #expect(try fixture.rows("SELECT * FROM tributary_run").filter { $0.contains("geheim") } == [])
            #expect(try fixture.rows("SELECT * FROM tributary_source").filter { $0.contains("geheim") } == [])
        }
    }

    @Test(.onEachStore) func aNewColumnIsAddedAndAChangedTypeOrKeyIsRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let document = "<f><r id='1' a='2' b='3'/></f>"
            _ = try await sync(
                fixture, document, table("t", "r", #"key = ["id"]"#, columns: "id = \"@id\"\na = \"@a\""))
            _ = try await sync(
                fixture, document,
                table(
                    "t", "r", #"key = ["id"]"#,
                    columns: "id = \"@id\"\na = \"@a\"\nb = { path = \"@b\", type = \"integer\" }"))
            #expect(try fixture.rows("SELECT * FROM t") == ["1|2|3"])
            let type = try await sync(
                fixture, document,
                table("t", "r", #"key = ["id"]"#, columns: "id = \"@id\"\nb = { path = \"@b\", type = \"text\" }"))
            let types = StoreKind.by(sqlite: ("TEXT", "INTEGER"), postgres: ("text", "bigint"))
            #expect(
                type.error?.contains("the type \(types.0), and the store has it as \(types.1)") == true,
                "\(type.error ?? "")")
            let key = try await sync(
                fixture, document, table("t", "r", #"key = ["a"]"#, columns: "id = \"@id\"\na = \"@a\""))
            #expect(
                key.error?.contains("key of table 't' is (a), which no unique index covers") == true,
                "\(key.error ?? "")")
        }
    }

    // MARK: - Round trips

    private func export(_ fixture: EngineFixture, _ configuration: TributaryConfiguration) throws -> String {
        let exporter = try fixture.exporter(configuration)
        let bytes = ByteCollector()
        try exporter.export { bytes.append($0) }
        return String(decoding: bytes.bytes, as: UTF8.self)
    }

    /// Exports what is stored, imports it again, and counts the rows that this changes.
    private func roundTrip(_ fixture: EngineFixture, _ mapping: String) async throws -> Int {
        let source = "[sources.s]\n[[sources.s.requests]]\nurl = \"URL/feed\"\n" + mapping
        let document = try export(fixture, fixture.configuration(source))
        let report = try await sync(fixture, document, mapping)
        #expect(report.outcome == .committed, "\(report.error ?? "") in \(document)")
        return report.counts.inserted + report.counts.updated + report.counts.deleted
    }

    /// Generated rows with hostile text: there and back without a change.
    @Test(.onEachStore, arguments: 1...8)
    func exportedRowsComeBackAsTheyWere(seed: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            var random = SplitMix64(seed: UInt64(seed))
            let pieces = [
                "]]>", "<&\"'>", "&#0;", "𝕏", "é", "  ", "\t", "\n", "a", "<![CDATA[", "-->", "\u{2028}", "%", "0", "",
                "\u{10FFFF}",
            ]
            func text() -> String {
                (0..<Int.random(in: 0...6, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
            }
            func escaped(_ text: String) -> String {
                text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
                    .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
                    .replacingOccurrences(of: "\n", with: "&#10;").replacingOccurrences(of: "\t", with: "&#9;")
            }
            func element(_ name: String) -> String {
                Bool.random(using: &random)
                    ? "<\(name)>\(escaped(text()))</\(name)>" : Bool.random(using: &random) ? "<\(name)/>" : ""
            }
            func attribute(_ name: String) -> String {
                Bool.random(using: &random) ? " \(name)=\"\(escaped(text()))\"" : ""
            }
            let document =
                "<root>"
                + (0..<20).map { group in
                    "<group\(attribute("label"))>"
                        + (0..<Int.random(in: 0...4, using: &random)).map { number in
                            "<item id=\"\(group)-\(number)\"\(attribute("a"))>\(element("name"))<info\(attribute("lang"))>"
                                + "\(element("deep"))</info>\(element("markup"))"
                                + (0..<Int.random(in: 0...3, using: &random)).map { _ in
                                    "<tag\(attribute("t"))>\(escaped(text()))</tag>"
                                }.joined()
                                + "</item>"
                        }.joined() + "</group>"
                }.joined() + "</root>"
            let mapping =
                "sync = \"mirror\"\n"
                + table(
                    "item", "group/item", #"key = ["id"]"#,
                    columns: """
                        id = "@id"
                        a = "@a"
                        label = "../@label"
                        name = "name"
                        lang = "info/@lang"
                        deep = "info/deep"
                        markup = { path = "markup", type = "xml" }
                        """)
                + table(
                    "tag", "group/item/tag", #"key = ["item", "n"]"#,
                    columns: "item = { parent = \"item\" }\nn = { ordinal = true }\nt = \"@t\"\nvalue = \".\"")
            let report = try await sync(fixture, document, mapping + "\n")
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try await roundTrip(fixture, mapping) == 0)
        }
    }
}
