import FeedModel
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Duplicates: of records of one document that have one key, the last counts, with what is mapped within it and nothing
/// that is within the others.
@Suite(.onEachStore) struct DuplicateRecordTests {
    private func sync(_ fixture: EngineFixture, _ documents: String..., mapping: String) async throws -> RunReport {
        for (index, document) in documents.enumerated() { fixture.server.document("/\(index)", "<f>\(document)</f>") }
        let requests = documents.indices.map {
            "[[sources.s.requests]]\nurl = \"URL/\($0)\"\nsync = \"mirror\"\n" + mapping
        }
        return try #require(try await fixture.sync("[sources.s]\n" + requests.joined(), mode: .full).first)
    }

    private func table(_ name: String, key: String, _ columns: String) -> String {
        """
        [[sources.s.requests.tables]]
        table = "\(name)"
        element = "\(name)"
        key = [\(key)]
        columns = { \(columns) }

        """
    }

    /// Orders, their lines, and notes on these: with the keys of the feed, or with keys that the store gives.
    private func orders(givenKeys: Bool) -> String {
        let own = givenKeys ? "o" : "code"
        return table("o", key: "\"\(own)\"", "\(own) = \"@id\", name = \"@name\"")
            + (givenKeys
                ? table("l", key: "\"id\"", "id = \"@id\", o = { parent = \"o\" }, v = \"@v\"")
                : table("l", key: "\"o\", \"pos\"", "o = { parent = \"o\" }, pos = { ordinal = true }, v = \"@v\""))
            + table("n", key: "\"l\", \"pos\"", "l = { parent = \"l\" }, pos = { ordinal = true }, v = \"@v\"")
    }

    @Test(arguments: [0, 400_000])
    func theFirstCountsWhereItIsToldTo(padding: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let many = (0..<(padding / 4_000)).map {
                "<o id='x\($0)' name='\(String(repeating: "-", count: 30_000))'/>"
            }.joined()
            let document =
                "<o id='1' name='A'>\(line("a", "a1"))</o><o id='1' name='B'>\(line("z", "z1"))</o>" + many
                + "<o id='1' name='C'/>"
            let mapping = orders(givenKeys: true)
            let first = mapping.replacing("table = \"o\"", with: "table = \"o\"\nduplicates = \"first\"")
            let report = try await sync(fixture, document, mapping: first)
            #expect(report.error == nil)
            #expect(try fixture.rows("SELECT name FROM o WHERE o = '1'") == ["A"])
            #expect(try fixture.rows(Self.lines) == ["a"])
            #expect(try fixture.rows(Self.notes) == ["a1"])
            let none = mapping.replacing("table = \"o\"", with: "table = \"o\"\nduplicates = \"discard\"")
            let refused = try await sync(fixture, document, mapping: none)
            let expected = "request '1': table 'o': several records of the feed have the key (o = "
            #expect(refused.error?.hasPrefix(expected) == true, "\(refused.error ?? "")")
            let advice =
                "1), 3 in all, and duplicates = \"discard\" allows one; correct 'key', or keep the \"first\" or \"last\" of them"
            #expect(refused.error?.replacing("\"1\"", with: "1").hasSuffix(advice) == true, "\(refused.error ?? "")")
            let single = document.replacing("id='1' name='B'", with: "id='2' name='B'").replacing(
                "id='1' name='C'", with: "id='3'")
            #expect(try await sync(fixture, single, mapping: none).error == nil)
        }
    }

    /// Records of different requests are no duplicates: that of the last request counts.
    @Test func eachRequestMayHaveTheRecord() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = ["a", "b"].map { path in
                """
                [[sources.s.requests]]
                url = "URL/\(path)"
                [[sources.s.requests.tables]]
                table = "o"
                element = "o"
                key = ["o"]
                duplicates = "discard"
                columns = { o = "@id", name = "@name" }

                """
            }.joined()
            fixture.server.document("/a", "<f><o id='1' name='A'/><o id='2' name='B'/></f>")
            fixture.server.document("/b", "<f><o id='1' name='C'/></f>")
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil, "\(report)")
            #expect(try fixture.rows("SELECT o, name FROM o ORDER BY o") == ["1|C", "2|B"])
            fixture.server.document("/b", "<f><o id='1' name='C'/><o id='1' name='D'/></f>")
            let refused = try #require(try await fixture.sync(sources).first)
            #expect(refused.error?.hasPrefix("request '2': table 'o': several records") == true, "\(refused)")
        }
    }

    /// Pages are documents of one request: what a later one has within a record that came first is skipped.
    @Test(arguments: ["mirror", "upsert", "insert"], [true, false])
    func theFirstOfSeveralPagesCounts(sync: String, givenKeys: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let next = "<next>/1</next>"
            fixture.server.document("/0", "<f><o id='1' name='A'>\(line("a", "a1"))\(line("b"))</o>\(next)</f>")
            fixture.server.document("/1", "<f><o id='1' name='B'>\(line("z", "z1"))</o><o id='2' name='C'/></f>")
            let mapping = orders(givenKeys: givenKeys).replacing(
                "table = \"o\"\n", with: "table = \"o\"\nduplicates = \"first\"\n")
            let source =
                "[[sources.s.requests]]\nurl = \"URL/0\"\nsync = \"\(sync)\"\npage = { next = \"/f/next\" }\n" + mapping
            let report = try #require(try await fixture.sync(source, mode: .full).first)
            #expect(report.error == nil)
            #expect(try fixture.rows("SELECT name FROM o ORDER BY name") == ["A", "C"])
            #expect(try fixture.rows(Self.lines) == ["a", "b"])
            #expect(try fixture.rows(Self.notes) == ["a1"])
        }
    }

    /// Of several requests the last counts, and the first of its records.
    @Test func theFirstRecordOfTheLastRequestCounts() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = table("o", key: "\"id\"", "id = \"@id\", name = \"@name\"").replacing(
                "table = \"o\"", with: "table = \"o\"\nduplicates = \"first\"")
            let report = try await sync(
                fixture, "<o id='1' name='A'/><o id='1' name='B'/>", "<o id='1' name='C'/><o id='1' name='D'/>",
                mapping: mapping)
            #expect(report.error == nil)
            #expect(try fixture.rows("SELECT name FROM o") == ["C"])
        }
    }

    private static let lines = "SELECT v FROM l ORDER BY v"
    private static let notes = "SELECT v FROM n ORDER BY v"

    private func line(_ v: String, _ notes: String...) -> String {
        "<l id='\(v)' v='\(v)'>" + notes.map { "<n v='\($0)'/>" }.joined() + "</l>"
    }

    @Test(arguments: [true, false], [0, 400_000])
    func theLastOnesChildrenCount(givenKeys: Bool, padding: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            // Rows of more than two MiB go by way of a scratch file.
            let many = (0..<(padding / 4_000)).map {
                "<o id='x\($0)' name='\(String(repeating: "-", count: 30_000))'/>"
            }.joined()
            let document =
                "<o id='1' name='A'>\(line("a", "a1", "a2"))\(line("b", "b1"))\(line("c", "c1"))</o>"
                + "<o id='2' name='X'>\(line("q", "q1"))</o>" + many
                + "<o id='1' name='B'>\(line("z", "z1"))</o>"
            let mapping = orders(givenKeys: givenKeys)
            let report = try await sync(fixture, document, mapping: mapping)
            #expect(report.error == nil)
            #expect(try fixture.rows("SELECT name FROM o WHERE name NOT LIKE '-%' ORDER BY 1") == ["B", "X"])
            #expect(try fixture.rows(Self.lines) == ["q", "z"])
            #expect(try fixture.rows(Self.notes) == ["q1", "z1"])
            #expect(report.counts.replaced == 8, "\(report)")
            let again = try await sync(fixture, document, mapping: mapping)
            #expect(again.counts.inserted + again.counts.updated + again.counts.deleted == 0, "\(again)")
            // What stood there of a record that is replaced now goes.
            let alone = try await sync(
                fixture, document.replacing("<o id='1' name='B'>\(line("z", "z1"))</o>", with: ""), mapping: mapping)
            #expect(alone.error == nil)
            #expect(try fixture.rows(Self.lines) == ["a", "b", "c", "q"])
            #expect(try await sync(fixture, document, mapping: mapping).error == nil)
            #expect(try fixture.rows(Self.notes) == ["q1", "z1"])
        }
    }

    /// A line of a replaced order has the key of one that counts.
    @Test func aChildOfAReplacedRecordReplacesNothing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let document =
                "<o id='1'><l id='7' v='kept'/></o><o id='2'><l id='7' v='dropped'/></o><o id='2'><l id='8' v='last'/></o>"
            #expect(try await sync(fixture, document, mapping: orders(givenKeys: true)).error == nil)
            #expect(try fixture.rows("SELECT id, v FROM l ORDER BY 1") == ["7|kept", "8|last"])
        }
    }

    /// Records within records of their own kind.
    @Test func recordsWithinTheirOwnKind() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = table("s", key: "\"id\"", "id = \"@id\", up = { parent = \"s\" }, v = \"@v\"")
            func nested(_ id: Int, _ inner: String) -> String { "<s id='\(id)' v='\(id)'>\(inner)</s>" }
            let document =
                nested(1, nested(2, nested(3, nested(4, ""))) + nested(5, "")) + nested(6, nested(1, nested(7, "")))
            #expect(try await sync(fixture, document, mapping: mapping).error == nil)
            #expect(try fixture.rows("SELECT id, up FROM s ORDER BY id") == ["1|6", "6|NULL", "7|1"])
        }
    }

    /// Pages and requests are documents of their own: an order that goes on there keeps its lines.
    @Test func recordsOfSeveralDocumentsAreNotDuplicates() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let first = "<o id='1' name='A'>\(line("a"))</o>"
            let second = "<o id='1' name='B'>\(line("b"))</o>"
            #expect(try await sync(fixture, first, second, mapping: orders(givenKeys: true)).error == nil)
            #expect(try fixture.rows("SELECT name FROM o") == ["B"])
            #expect(try fixture.rows(Self.lines) == ["a", "b"])
        }
    }

    /// `parser = "mirrored"`: children go with the record around them, and what a record has within it stays.
    @Test func aDocumentThatMirrorsTheSchema() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS author (id TEXT PRIMARY KEY, name TEXT);
                    CREATE TABLE IF NOT EXISTS book (
                        isbn TEXT PRIMARY KEY, title TEXT, author_id TEXT REFERENCES author (id));
                    CREATE TABLE IF NOT EXISTS chapter (
                        id INTEGER PRIMARY KEY, book_isbn TEXT REFERENCES book (isbn), title TEXT);
                    CREATE TABLE IF NOT EXISTS alias (name TEXT PRIMARY KEY, author_id TEXT REFERENCES author (id));
                    """)
            fixture.server.document(
                "/0",
                """
                <books>
                <book isbn='1' title='Old'><chapter title='gone'/><author id='a' name='A'><alias name='gone'/></author></book>
                <book isbn='2' title='Two'><chapter title='two'/><author id='a' name='A'><alias name='stays'/></author></book>
                <book isbn='1' title='New'><chapter title='new'/><author id='b' name='B'/></book>
                <book isbn='3' title='Three'><author id='b' name='B'/></book>
                </books>
                """)
            let source = "[[sources.s.requests]]\nurl = \"URL/0\"\nparser = \"mirrored\"\nsync = \"mirror\"\n"
            let report = try #require(try await fixture.sync(source, mode: .full).first)
            #expect(report.error == nil)
            #expect(
                try fixture.rows("SELECT isbn, title, author_id FROM book ORDER BY 1") == [
                    "1|New|b", "2|Two|a", "3|Three|b",
                ])
            #expect(try fixture.rows("SELECT title FROM chapter ORDER BY 1") == ["new", "two"])
            #expect(try fixture.rows("SELECT name, author_id FROM alias") == ["stays|a"])
            let again = try #require(try await fixture.sync(source, mode: .full).first)
            #expect(again.counts.inserted + again.counts.updated + again.counts.deleted == 0, "\(again)")
        }
    }

    /// Keys that the store holds for equal though their bytes differ.
    @Test func keysThatAreEqualInTheStore() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let type = StoreKind.by(sqlite: "TEXT COLLATE NOCASE", postgres: "citext")
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS o (id \(type) PRIMARY KEY, name TEXT);
                    CREATE TABLE IF NOT EXISTS l (id TEXT PRIMARY KEY, o \(type) REFERENCES o (id), v TEXT);
                    """)
            let mapping =
                table("o", key: "\"id\"", "id = \"@id\", name = \"@name\"")
                + table("l", key: "\"id\"", "id = \"@id\", o = { parent = \"o\" }, v = \"@v\"")
            let document = "<o id='x' name='A'>\(line("a"))\(line("b"))</o><o id='X' name='B'>\(line("b"))</o>"
            #expect(try await sync(fixture, document, mapping: mapping).error == nil)
            #expect(try fixture.rows("SELECT name FROM o") == ["B"])
            #expect(try fixture.rows(Self.lines) == ["b"])
        }
    }
}
