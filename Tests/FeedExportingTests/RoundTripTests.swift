import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB
import TestEngine
import TestStores
import TestSupport
import Testing
import XMLStream
@testable import FeedConfiguration
@testable import FeedExporting
@testable import FeedInferring
@testable import TributaryEngine

/// Documents that are inferred, imported, exported and imported again: the same rows, or an export that says why not.
@Suite struct RoundTripTests {
    // MARK: - What infer proposes comes back

    private static let typed: String = {
        let items = (1...6).map { number -> String in
            "<item id='\(number)'><i>\(number)</i><d>\(number).50</d><r>1.\(number)e\(number)</r><b>true</b>"
                + "<day>2026-11-0\(number)</day><at>2026-11-0\(number)T10:00:00.5+02:00</at></item>"
        }
        return "<r>\(items.joined())</r>"
    }()

    static let documents: [(name: String, xml: String)] = [
        (
            "records in keyless records",
            "<l><shelf><book t='A'><mark p='1'/><mark p='2'/></book><book t='B'/></shelf><shelf><book t='A'>"
                + "<mark p='1'/></book></shelf></l>"
        ),
        (
            "records in a record with a key of several columns",
            "<o><order nr='1'><line sku='x'><tag>p</tag><tag>q</tag></line><line sku='y'/></order><order nr='2'>"
                + "<line sku='x'><tag>p</tag></line></order></o>"
        ),
        (
            "records in wrappers that are no records",
            "<r><item id='1'><tags><tag>a</tag><tag>b</tag></tags><links kind='k'><link to='x'/><link to='y'/>"
                + "</links></item><item id='2'><tags/></item></r>"
        ),
        (
            "elements of one name at several paths",
            "<r><item id='1'><part><name>n</name><name>m</name></part><name>i</name></item><item id='2'><name>"
                + "j</name></item><name>top</name></r>"
        ),
        (
            "one local name in two namespaces, both repeated",
            "<r xmlns:a='urn:a'><item id='1'><link>x</link><a:link href='y'/><link>z</link><a:link href='w'/>"
                + "</item><item id='2'><a:link href='v'/></item></r>"
        ),
        (
            "a default namespace, and names in none",
            "<f xmlns='urn:d' xmlns:a='urn:a'><item id='1'><t>x</t><t xmlns=''>y</t><a:t>z</a:t></item><item id='2'>"
                + "<t xmlns=''>w</t><a:u>v</a:u></item></f>"
        ),
        (
            "one local name in two namespaces, as values",
            "<r xmlns:a='urn:a'><item id='1'><a:title>A</a:title><title>T</title></item><item id='2'><a:title>"
                + "B</a:title></item></r>"
        ),
        (
            "an attribute and xml:lang",
            "<r><item id='1' xml:lang='de' lang='en'>x</item><item id='2' xml:lang='fr'>y</item></r>"
        ),
        (
            "attributes and children of one name",
            "<r><item id='1'><id>2</id><id>3</id></item><item id='2'><id>2</id></item></r>"
        ),
        (
            "empty and missing",
            "<r><item id='1' a=''><b/><c> </c></item><item id='2'><c>x</c></item><item id='3' a='y'><b>z</b></item></r>"
        ),
        (
            "white space",
            "<r><item id='1' a='  x&#10;y '><b> u  v\n w </b></item><item id='2' a='&#9;'><b>&#160;n&#160;</b>"
                + "</item></r>"
        ),
        (
            "prose",
            "<r><item id='1'><p>so <b>bold</b> and <i>more</i> it is</p></item><item id='2'><p>plain</p><p>"
                + "two <b>x</b> y</p></item></r>"
        ),
        (
            "markup",
            "<r><item id='1'><c type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>a <b>b</b></div></c>"
                + "</item><item id='2'><c type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'/></c></item></r>"
        ),
        ("the root as markup", "<c id='1'><div xmlns='http://www.w3.org/1999/xhtml'>a <b>b</b></div></c>"),
        (
            "text beside children", "<r><item id='1'>own<n>x</n></item><item id='2'><n>y</n></item></r>"
        ),
        (
            "elements within their own kind",
            "<o><body><outline text='a'><outline text='b'><outline text='c'/></outline><attr k='1'/>"
                + "<attr k='2'/></outline><outline text='d'/></body></o>"
        ),
        (
            "elements within their own kind, with a key",
            "<s><category id='1'><name>a</name><category id='2'><name>b</name></category></category>"
                + "<category id='3'><name>c</name></category></s>"
        ),
        (
            "elements within their own kind, in records",
            "<d><entry id='a'><sense n='1'><def>x</def><sense n='1'><def>y</def></sense><sense n='2'><def>y</def>"
                + "</sense></sense><sense n='2'><def>z</def></sense></entry><entry id='b'><sense n='1'><def>x</def>"
                + "</sense></entry></d>"
        ),
        (
            "records that are alike",
            "<r><item><a>1</a><t>x</t><t>y</t></item><item><a>1</a><t>x</t><t>z</t></item><item><a>1</a></item></r>"
        ),
        (
            "keys that come twice",
            "<r><item id='1'><t>a</t><t>b</t></item><item id='2'/><item id='1'><t>c</t></item></r>"
        ),
        ("one record", "<r version='1'><channel><title>x</title><item><id>7</id></item></channel></r>"),
        ("a root that is the record", "<r a='1'><b>x</b><c><d>1</d><d>2</d></c></r>"),
        (
            "a day around records",
            "<r><day date='2026-11-20'><rate currency='USD' rate='1.05'/><rate currency='CHF' rate='0.94'/></day></r>"
        ),
        ("types", typed),
        (
            "names that collide and are reserved",
            "<r><tributary_run Id='1' ID='2' rowid='3'><tributary_run_id>4</tributary_run_id></tributary_run>"
                + "<tributary_run Id='5'/></r>"
        ),
        (
            "a reserved name around a day",
            "<r><tributary_run date='2026-11-20'><rate date='1' c='USD'/><rate date='2' c='CHF'/></tributary_run></r>"
        ),
        (
            "a key of the store's beside columns of that name",
            "<r><date id='1' date_id='2'><n>x</n><n>y</n></date><date id='1' date_id='3'><n>x</n></date></r>"
        ),
        (
            "hostile text",
            "<r><item id='1'>]]&gt;&lt;b&gt;&amp;amp;&#13;\u{2028}</item><item id='&lt;&quot;&#10;'>--&gt;</item></r>"
        ),
    ]

    @Test(.onEachStore, arguments: documents.map(\.name))
    func whatInferProposesComesBack(name: String) async throws {
        let document = try #require(Self.documents.first { $0.name == name }?.xml)
        try await EngineFixture.with { (fixture) async throws in
            // The fixture's own tables have names that the documents use.
            try fixture.write(schema: "")
            let source = try Self.propose(document, url: "URL/feed")
            fixture.server.document("/feed", document)
            let first = try await fixture.sync(source, mode: .full)
            #expect(first.first?.outcome == .committed, "\(first) \(source)")
            let exported = try Self.export(fixture, source)
            let rows = try Self.told(fixture, source)
            #expect(!rows.isEmpty)
            fixture.server.document("/feed", exported)
            let again = try #require(try await fixture.sync(source, mode: .full).first)
            #expect(again.outcome == .committed, "\(again.error ?? "") \(exported) \(source)")
            let changes = again.counts.inserted + again.counts.updated + again.counts.deleted
            #expect(changes == 0, "\(again.counts) \(exported) \(source)")
            try await EngineFixture.with { (other) async throws in
                try other.write(schema: "")
                other.server.document("/feed", exported)
                let second = try await other.sync(source, mode: .full)
                #expect(second.first?.outcome == .committed, "\(second) \(exported)")
                #expect(try Self.told(other, source) == rows, "\(exported) \(source)")
            }
        }
    }

    @Test func manyColumnsAreLeftOutWithAReason() throws {
        let children = (0..<2_100).map { "<c\($0)>v</c\($0)>" }.joined()
        let toml = try Self.propose("<r><item>\(children)</item><item/></r>", url: "URL/feed")
        #expect(toml.contains("200 values more are left out: a table of SQLite's has at most 2,000 columns."))
        #expect(toml.components(separatedBy: " = \"c").count == 1_901)
    }

    // MARK: - What cannot be written back is refused

    static let refusals: [(name: String, columns: String, document: String, sql: String, reason: String)] = [
        (
            "text that holds another column's", #"whole = "string(author)""# + "\n" + #"author = "author/name""#,
            "<item id='1'><author>by <name>Ann</name></author></item>", "", "takes the same part of the document"
        ),
        (
            "a format that loses the century", #"day = { path = "day", type = "date", format = "%d.%m.%y" }"#,
            "<item id='1'><day>05.02.26</day></item>", "UPDATE t SET day = '1826-02-05'", "does not hold all of it"
        ),
        (
            "white space at the ends", #"name = "name""#, "<item id='1'><name>x</name></item>",
            "UPDATE t SET name = ' x'",
            "column 'name' holds \" x\", and \"x\" would come back from the exported document: an element's "
                + "text is read without"
        ),
        (
            "nothing where there is a default", #"lang = { path = "@lang", default = "en" }"#, "<item id='1'/>",
            "UPDATE t SET lang = NULL", "what is missing becomes the column's default"
        ),
        (
            "a control character", #"name = "name""#, "<item id='1'><name>x</name></item>",
            "UPDATE t SET name = CHAR(1)", "holds the character U+0001, which XML 1.0 cannot hold"
        ),
        (
            "a character that is none", #"name = "name""#, "<item id='1'><name>x</name></item>",
            "UPDATE t SET name = 'a' || CHAR(65535)", "holds the character U+FFFF"
        ),
        (
            "text that is no UTF-8", #"name = "name""#, "<item id='1'><name>x</name></item>",
            "UPDATE t SET name = CAST(x'61ff' AS TEXT)", "the row would not come back"
        ),
        (
            "text with a NUL in it", #"name = "name""#, "<item id='1'><name>x</name></item>",
            "UPDATE t SET name = CAST(x'610062' AS TEXT)", "the row would not come back"
        ),
        (
            "positions with a gap", #"n = { ordinal = true }"#, "<item id='1'/><item id='2'/>",
            "DELETE FROM t WHERE id = '1'", "positions are counted again"
        ),
        (
            "an unknown text of an enumeration", #"s = { path = "s", values = { open = 1 } }"#,
            "<item id='1'><s>open</s></item>", "UPDATE t SET s = 2", "would not be imported again"
        ),
        (
            "a value that must be there", #"s = { path = "s", required = true, on_error = "skip" }"#,
            "<item id='1'><s>x</s></item>",
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE "
                + "name = 't'; PRAGMA writable_schema = RESET; UPDATE t SET s = NULL",
            "the row would not come back"
        ),
    ]

    /// Returns SQL for the store; nil where it cannot hold such a value.
    private static func sql(_ text: String) -> String? {
        guard StoreKind.current == .postgres else { return text }
        // PostgreSQL's texts are UTF-8, and without a NUL.
        if text.contains("CAST(x'") { return nil }
        if text.hasPrefix("PRAGMA") { return "ALTER TABLE t ALTER s DROP NOT NULL; UPDATE t SET s = NULL" }
        return text.replacing("CHAR(", with: "chr(")
    }

    @Test(.onEachStore, arguments: refusals.map(\.name))
    func whatCannotBeWrittenBackIsRefused(name: String) async throws {
        let refusal = try #require(Self.refusals.first { $0.name == name })
        guard let sql = Self.sql(refusal.sql) else { return }
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source(Self.table("t", "item", #"["id"]"#, "id = \"@id\"\n" + refusal.columns))
            fixture.server.document("/feed", "<r>\(refusal.document)</r>")
            let report = try await fixture.sync(source, mode: .full)
            #expect(report.first?.outcome == .committed, "\(report)")
            try Self.execute(sql, in: fixture)
            try Self.expectRefusal(fixture, source, "table 't'", refusal.reason)
            #expect(
                try Self.export(fixture, source, isTried: false).isEmpty == refusal.reason.contains("U+"))
        }
    }

    @Test(.onEachStore, arguments: ["NULL", "'9'"])
    func rowsWithoutTheirParentAreRefused(parent: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source(
                Self.table("orders", "order", #"["id"]"#, #"id = "@id""#)
                    + Self.table("line", "order/line", "", "o = { parent = \"orders\" }\nsku = \"@sku\""))
            fixture.server.document("/feed", "<r><order id='1'><line sku='a'/></order></r>")
            _ = try await fixture.sync(source, mode: .full)
            try Self.execute("INSERT INTO line VALUES (\(parent), 'b')", in: fixture)
            try Self.expectRefusal(
                fixture, source, "table 'line'", "there is no element to write it into")
        }
    }

    @Test func tablesThatTakeOneElementAreRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source(
                Self.table("a", "item", #"["id"]"#, #"id = "@id""#)
                    + Self.table("b", "r/item", #"["id"]"#, #"id = "@id""#))
            fixture.server.document("/feed", "<r><item id='1'/></r>")
            _ = try await fixture.sync(source, mode: .full)
            try Self.execute("INSERT INTO b VALUES ('2')", in: fixture)
            try Self.expectRefusal(fixture, source, "table 'a', row (id = \"2\")", "would bring this row")
        }
    }

    // MARK: - What can, is not

    @Test func joinedValuesComeBackWhateverIsInThem() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source(
                Self.table(
                    "t", "item", #"["id"]"#,
                    "id = \"@id\"\ntags = { path = \"tag\", repeat = \"join\", separator = \", \" }\nkind = "
                        + "\"tag/@kind\""
                ))
            fixture.server.document(
                "/feed",
                "<r><item id='1'><tag kind='k'>a, b</tag><tag>c</tag></item><item id='2'><tag>a</tag><tag/>"
                    + "</item><item id='3'><tag/><tag/></item></r>"
            )
            _ = try await fixture.sync(source, mode: .full)
            #expect(try fixture.rows("SELECT tags FROM t ORDER BY id") == ["a, b, c", "a, ", ", "])
            let exported = try Self.export(fixture, source)
            #expect(
                exported.contains("<tag kind=\"k\">a, b, c</tag>") && exported.contains("<tag>a</tag><tag/>"),
                "\(exported)")
        }
    }

    /// A column's name is a name, whatever of SQL's it looks like.
    @Test(.onEachStore) func columnsWithDotsInTheirNames() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source(
                Self.table("box", "box", #"["item.id"]"#, #""item.id" = "@id""#)
                    + Self.table(
                        "line", "box/line", #"["m.box", "m."]"#,
                        #""m.box" = "../@id"\#n"m." = "@n"\#n"item.title" = "../title""#))
            fixture.server.document(
                "/feed", "<r><box id='1'><title>A</title><line n='1'/><line n='2'/></box><box id='2'/></r>")
            let report = try await fixture.sync(source, mode: .full)
            #expect(report.first?.error == nil, "\(report)")
            let exported = try Self.export(fixture, source)
            #expect(exported.contains(#"<box id="1"><title>A</title><line n="1"/><line n="2"/></box>"#), "\(exported)")
        }
    }

    @Test(.onEachStore) func rowsThatOthersReferToNeedNotBeExported() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS firm (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
                    INSERT INTO firm VALUES (7, 'Acme'), (9, 'Umbra') ON CONFLICT DO NOTHING;
                    CREATE TABLE IF NOT EXISTS person (id TEXT PRIMARY KEY, firm_id INTEGER REFERENCES firm);
                    """)
            let source = Self.source(
                Self.table(
                    "person", "person", #"["id"]"#,
                    "id = \"@id\"\nfirm_id = { path = \"@firm\", references = \"firm(name)\" }"))
            fixture.server.document("/feed", "<r><person id='1' firm='Umbra'/><person id='2'/></r>")
            _ = try await fixture.sync(source, mode: .full)
            #expect(try Self.export(fixture, source).contains(#"firm="Umbra""#))
        }
    }

    @Test(.onEachStore) func columnsOfWhateverMatchesAreExportedByName() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: "CREATE TABLE IF NOT EXISTS t (id TEXT PRIMARY KEY, \"firstName\" TEXT);")
            let source = Self.source("[[sources.s.requests.tables]]\ntable = \"t\"\nelement = \"item\"\n")
            fixture.server.document("/feed", "<r><item id='1' first-name='Ann'/></r>")
            _ = try await fixture.sync(source, mode: .full)
            #expect(
                try Self.export(fixture, source).contains(
                    "<item><id>1</id><firstName>Ann</firstName></item>"))
        }
    }

    @Test(.onEachStore) func booleansAreWrittenAsTheyAreRead() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source(
                Self.table("t", "item", #"["id"]"#, "id = \"@id\"\nisNew = { path = \"@new\", type = \"boolean\" }"))
            fixture.server.document("/feed", "<r><item id='1' new='true'/><item id='2' new='0'/><item id='3'/></r>")
            _ = try await fixture.sync(source, mode: .full)
            let exported = try Self.export(fixture, source).replacing("\n", with: "")
            #expect(
                exported.contains(#"<item id="1" new="true"/><item id="2" new="false"/><item id="3"/>"#), "\(exported)")
        }
    }

    @Test func anEmptyTableIsAnEmptyDocument() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source(Self.table("t", "item", #"["id"]"#, #"id = "@id""#))
            fixture.server.document("/feed", "<r><item id='1'/></r>")
            _ = try await fixture.sync(source, mode: .full)
            try Self.execute("DELETE FROM t", in: fixture)
            #expect(try Self.export(fixture, source).contains("<data/>"))
        }
    }

    // MARK: - Helpers

    private static func propose(_ document: String, url: String) throws -> String {
        try MappingProposal(url: url, sourceName: "s") { handler in
            let parser = XMLStreamParser(handler: handler)
            try Array(document.utf8).withUnsafeBytes { try parser.parse($0) }
            try parser.finish()
        }.toml
    }

    private static func source(_ tables: String) -> String {
        "[sources.s]\n[[sources.s.requests]]\nurl = \"URL/feed\"\n" + tables
    }

    private static func table(_ name: String, _ element: String, _ key: String, _ columns: String) -> String {
        "[[sources.s.requests.tables]]\ntable = \"\(name)\"\nelement = \"\(element)\"\n"
            + (key.isEmpty ? "" : "key = \(key)\n") + "[sources.s.requests.tables.columns]\n\(columns)\n"
    }

    private static func export(_ fixture: EngineFixture, _ source: String, isTried: Bool = true) throws -> String {
        let written = Written()
        do {
            try fixture.exporter(fixture.configuration(source)).export(isTried: isTried) { written.bytes += $0 }
        } catch let error as ExportError where !isTried {
            // A value that XML cannot hold is found in any case.
            #expect(error.description.contains("U+"))
            return ""
        }
        return String(decoding: written.bytes, as: UTF8.self)
    }

    /// Expects that the export fails with these texts in its message, and that nothing is written.
    private static func expectRefusal(_ fixture: EngineFixture, _ source: String, _ expected: String...) throws {
        let written = Written()
        let exporter = try fixture.exporter(fixture.configuration(source))
        let error = #expect(throws: ExportError.self) { try exporter.export { written.bytes += $0 } }
        for text in expected where error?.description.contains(text) == false {
            Issue.record("'\(text)' is not in: \(error?.description ?? "")")
        }
        #expect(written.bytes.isEmpty)
    }

    private static func execute(_ sql: String, in fixture: EngineFixture) throws {
        guard !sql.isEmpty else { return }
        try fixture.store.execute(sql, isChecked: false)
    }

    /// The rows of every mapped table, sorted, each with the row that it belongs to in place of a key of the store's.
    private static func told(_ fixture: EngineFixture, _ source: String) throws -> [String] {
        let configuration = try fixture.configuration(source)
        guard case .mapping(let mapping)? = configuration[source: "s"]?.requests.first?.content else {
            return []
        }
        return try DatabaseQueue(path: fixture.mappedTables(configuration)).read { db in
            func text(_ row: Row, of table: TableMapping) throws -> String {
                try table.columns.map { column -> String in
                    let value: DatabaseValue = row[column.name]
                    guard case .parent(let name) = column.origin,
                        let parent = mapping.tables.first(where: { $0.table == name }),
                        let key = try db.primaryKey(name).columns.first, parent.column(key) == nil,
                        let outer = try Row.fetchOne(
                            db, sql: "SELECT * FROM \"\(name)\" WHERE \"\(key)\" = ?", arguments: [value])
                    else { return "\(column.name)=\(value)" }
                    return "\(column.name)=(\(try text(outer, of: parent)))"
                }.joined(separator: "|")
            }
            return try mapping.tables.flatMap { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \"\(table.table)\"").map {
                    "\(table.table): \(try text($0, of: table))"
                }
            }.sorted()
        }
    }

    private final class Written {
        var bytes: [UInt8] = []
    }
}
