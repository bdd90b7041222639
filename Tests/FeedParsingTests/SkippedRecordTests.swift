import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine

/// Records that are left out, and what a mirror makes of their rows.
@Suite struct SkippedRecordTests {
    private func mapping(
        _ options: String = "", key: String = "\"id\"", columns: String = "", table: String = ""
    ) -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        sync = "mirror"
        \(options)
        [[sources.s.requests.tables]]
        table = "thing"
        element = "item"
        key = [\(key)]
        columns.id = { path = "@id", type = "integer", on_error = "skip" }
        columns.size = { path = "@size", type = "integer", on_error = "skip" }
        \(columns)
        \(table)

        """
    }

    private func items(_ items: KeyValuePairs<String, String>) -> String {
        "<items>" + items.map { "<item id='\($0.key)' size='\($0.value)'/>" }.joined() + "</items>"
    }

    @Test(.onEachStore) func aRecordThatIsSkippedDeletesNoRow() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", items(["1": "10", "2": "20", "3": "30"]))
            try await fixture.sync(mapping())
            fixture.server.document("/a", items(["1": "wrong", "2": "21"]))
            let report = try #require(try await fixture.sync(mapping()).first)
            #expect(report.error == nil && report.skipped == 1)
            #expect(report.counts.updated == 1 && report.counts.deleted == 1)
            #expect(try fixture.rows("SELECT id, size FROM thing ORDER BY id") == ["1|10", "2|21"])
            // A feed all of whose records are wrong is no success.
            fixture.server.document("/a", items(["1": "wrong", "2": "wrong"]))
            let none = try #require(try await fixture.sync(mapping()).first)
            #expect(none.outcome == .discarded && none.counts.deleted == 0)
            let error = "no record is left, as 2 records would be left out (on_error = \"skip\")"
            #expect(none.error?.contains(error) == true, "\(none.error ?? "")")
            #expect(none.error?.contains("the first: line 1, <item> (id = \"1\"): column 'size'") == true)
            #expect(try fixture.rows("SELECT id, size FROM thing ORDER BY id") == ["1|10", "2|21"])
            fixture.server.document("/a", items(["2": "22", "4": "wrong"]))
            #expect(try await fixture.sync(mapping()).first?.counts.deleted == 1)
            #expect(try fixture.rows("SELECT id, size FROM thing ORDER BY id") == ["2|22"])
        }
    }

    /// A supplier that writes `EUR 5,00` from one day on must not stay unnoticed.
    @Test func theFirstErrorsAreNoted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func document(_ sizes: [String]) -> String {
                "<items>\n"
                    + sizes.enumerated().map { "<item id='\($0.offset)' size='\($0.element)'/>\n" }.joined()
                    + "</items>"
            }
            fixture.server.document("/a", document(["1", "auf Anfrage"]))
            let one = try #require(try await fixture.sync(mapping()).first)
            let error =
                "line 3, <item> (id = \"1\"): column 'size' of table 'thing': \"auf Anfrage\" is not an integer "
                + "from -9223372036854775808 to 9223372036854775807"
            #expect(one.note == "1 record was skipped: " + error)
            #expect(try fixture.rows("SELECT note FROM tributary_source") == [one.note])
            fixture.server.document("/a", document(["a", "b", "c", "d", "e", "1"]))
            let five = try #require(try await fixture.sync(mapping()).first)
            let note = try #require(five.note)
            #expect(note.hasPrefix("5 records were skipped: line 2, ") && note.hasSuffix("; and 2 more"), "\(note)")
            #expect(["\"a\"", "\"b\"", "\"c\""].allSatisfy(note.contains) && !note.contains("\"d\""), "\(note)")
            // Records that the declaration excludes are no mistakes.
            fixture.server.document("/a", document(["1", "2"]))
            let filtered = try #require(try await fixture.sync(mapping(table: "where = \"size > 5\"")).first)
            #expect(filtered.skipped == 2 && filtered.note == nil)
        }
    }

    /// A request that is sent again counts its records once.
    @Test func aRepeatedRequestSkipsItsRecordsOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = Array(items(["1": "1", "2": "wrong"]).utf8)
            let count = Counter()
            fixture.server.route("/a") { _ in
                count.enter()
                let isCut = count.total == 1
                let head = StubServer.head(200, ["Content-Length": "\(body.count)"])
                return [head, .send(isCut ? Array(body.dropLast(4)) : body), .close]
            }
            let report = try #require(try await fixture.sync(mapping("retries = 2")).first)
            #expect(report.error == nil && report.skipped == 1 && count.total == 2, "\(report)")
            #expect(report.note?.hasPrefix("1 record was skipped: ") == true)
        }
    }

    /// Where the key is what does not convert, any row may be the record's.
    @Test(.onEachStore) func withoutAKeyNothingIsDeleted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let other = mapping("key = \"b\"").replacing("/a", with: "/b").replacing("\"thing\"", with: "\"other\"")
            let sources = mapping("key = \"a\"") + other
            for path in ["/a", "/b"] { fixture.server.document(path, items(["1": "10", "2": "20"])) }
            try await fixture.sync(sources)
            fixture.server.document("/a", items(["one": "11", "2": "20"]))
            fixture.server.document("/b", items(["2": "21"]))
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil && report.skipped == 1)
            #expect(try fixture.rows("SELECT id, size FROM thing ORDER BY id") == ["1|10", "2|20"])
            #expect(try fixture.rows("SELECT id, size FROM other ORDER BY id") == ["2|21"])
            let expected = "no row of table 'thing' was deleted, as 1 record was left out (on_error = \"skip\")"
            #expect(report.note?.contains(expected) == true, "\(report.note ?? "")")
            let note = try fixture.rows("SELECT note FROM tributary_source").first ?? ""
            #expect(note.contains(expected), "\(note)")
            // The next whole document deletes what is gone.
            fixture.server.document("/a", items(["2": "20"]))
            #expect(try await fixture.sync(sources).first?.counts.deleted == 1)
            #expect(try fixture.rows("SELECT note FROM tributary_source") == ["NULL"])
        }
    }

    @Test(.onEachStore) func keysOfSeveralColumnsAndScopesCount() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = mapping(
                "scope = { shop = \"x\" }", key: "\"shop\", \"id\", \"name\"", columns: "columns.name = \"@name\"")
            func document(_ size: String) -> String {
                "<items><item id='1' name='É' size='\(size)'/><item id='2' name='b' size='2'/></items>"
            }
            fixture.server.document("/a", document("1"))
            try await fixture.sync(sources)
            fixture.server.document("/a", document("?"))
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil && report.counts.deleted == 0 && report.skipped == 1)
            #expect(report.note?.contains("no row of table") == false)
            #expect(try fixture.rows("SELECT shop, id, name, size FROM thing ORDER BY id") == ["x|1|É|1", "x|2|b|2"])
        }
    }

    /// PostgreSQL has a type of its own for booleans.
    @Test(.onEachStore, arguments: ["\"flag\"", "\"flag\", \"name\""])
    func aKeyMayHaveABoolean(key: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = mapping(
                key: key, columns: "columns.flag = { path = \"@flag\", type = \"boolean\" }\ncolumns.name = \"@name\"")
            func document(_ size: String, _ rest: String = "") -> String {
                "<items><item id='1' flag='true' name='a' size='\(size)'/>\(rest)</items>"
            }
            fixture.server.document("/a", document("1", "<item id='2' flag='false' name='b' size='2'/>"))
            try await fixture.sync(sources)
            fixture.server.document("/a", document("?", "<item id='2' flag='false' name='b' size='3'/>"))
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil && report.counts.deleted == 0 && report.skipped == 1, "\(report)")
            #expect(report.note?.contains("no row of table") == false, "\(report)")
            #expect(try fixture.rows("SELECT id, name, size FROM thing ORDER BY id") == ["1|a|1", "2|b|3"])
        }
    }

    /// So it is for documents of more rows than stay in memory, and for more keys than are remembered.
    @Test(.onEachStore) func manyRecordsAreSkipped() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func document(_ wrong: Range<Int>, _ count: Int = 12_000) -> String {
                let pad = String(repeating: "x", count: 400)
                return "<items>"
                    + (0..<count).map { "<item id='\($0)' size='\(wrong.contains($0) ? "-" : "1")' name='\(pad)'/>" }
                    .joined()
                    + "</items>"
            }
            let sources = mapping(columns: "columns.name = \"@name\"")
            fixture.server.document("/a", document(0..<0))
            try await fixture.sync(sources)
            fixture.server.document("/a", document(0..<9_000, 11_000))
            let some = try #require(try await fixture.sync(sources).first)
            #expect(some.counts.deleted == 1_000 && some.skipped == 9_000 && some.error == nil)
            #expect(some.note?.hasSuffix("; and 8997 more") == true, "\(some.note ?? "")")
            fixture.server.document("/a", document(0..<10_500, 10_900))
            let many = try #require(try await fixture.sync(sources).first)
            #expect(many.counts.deleted == 0 && many.skipped == 10_500 && many.error == nil)
            #expect(many.note?.contains("no row of table") == true)
        }
    }

    @Test func aDocumentAllOfWhichIsFilteredIsValid() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = mapping(table: "where = \"size > 5\"")
            fixture.server.document("/a", items(["1": "10", "2": "20"]))
            try await fixture.sync(sources)
            fixture.server.document("/a", items(["1": "1", "2": "2"]))
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil && report.skipped == 2 && report.counts.deleted == 2)
            // One without any record is refused as before.
            fixture.server.document("/a", "<items/>")
            let empty = try #require(try await fixture.sync(sources).first)
            #expect(empty.error?.contains("no element of the document is 'item'") == true)
        }
    }

    /// A page all of whose records are filtered is not the last one.
    @Test func aPageThatIsFilteredIsNotTheLast() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { request in
                let page = Int(request.query.replacing("page=", with: "")) ?? 1
                let size = page == 2 ? 1 : 10
                let body = page > 3 ? "<items/>" : "<items><item id='\(page)' size='\(size)'/></items>"
                return StubServer.response(200, body)
            }
            let report = try #require(
                try await fixture.sync(mapping("page = { counter = \"page\" }", table: "where = \"size > 5\"")).first)
            #expect(report.error == nil && report.counts.inserted == 2 && report.skipped == 1)
        }
    }

    private static let lines = """

        [[sources.s.requests.tables]]
        table = "line"
        element = "item/line"
        key = ["thing", "n"]
        columns.thing = { parent = "thing" }
        columns.n = { path = "@n", type = "integer" }
        """

    private func item(_ id: String, _ size: String, lines: Int...) -> String {
        "<item id='\(id)' size='\(size)'>\(lines.map { "<line n='\($0)'/>" }.joined())</item>"
    }

    /// What is within a left out record is left out with it, and what stands for it stays.
    @Test(
        .onEachStore,
        arguments: [
            "", "CREATE TABLE IF NOT EXISTS thing (number INTEGER PRIMARY KEY, id INTEGER UNIQUE, size INTEGER);",
        ])
    func theRecordsWithinAreLeftOut(schema: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: schema)
            let key = schema.isEmpty ? "id" : "number"
            let rows = "SELECT t.id, t.size, l.n FROM thing t LEFT JOIN line l ON l.thing = t.\(key) ORDER BY t.id, l.n"
            let sources = mapping("allow_empty = true", table: Self.lines)
            fixture.server.document("/a", "<a>\(item("1", "10", lines: 1))\(item("2", "20", lines: 1))</a>")
            #expect(try await fixture.sync(sources).first?.error == nil)
            let wrong = "<a>\(item("1", "x", lines: 2))\(item("2", "21", lines: 2))\(item("3", "y", lines: 1))</a>"
            fixture.server.document("/a", wrong)
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil && report.skipped >= 2, "\(report.error ?? "")")
            #expect(report.counts.inserted == 1 && report.counts.updated == 1 && report.counts.deleted == 0)
            #expect(report.counts.replaced == 0)
            #expect(report.note?.contains("no row of table 'line' was deleted") == true, "\(report.note ?? "")")
            #expect(try fixture.rows(rows) == ["1|10|1", "2|21|1", "2|21|2"])
            // The same record once more, without the mistake, brings its own lines only.
            fixture.server.document("/a", "<a>\(item("1", "x", lines: 5))\(item("1", "11", lines: 6))</a>")
            #expect(try await fixture.sync(sources).first?.error == nil)
            #expect(try fixture.rows(rows) == ["1|11|1", "1|11|6", "2|21|1", "2|21|2"])
            fixture.server.document("/a", "<a>\(item("1", "12", lines: 6))</a>")
            #expect(try await fixture.sync(sources).first?.error == nil)
            #expect(try fixture.rows(rows) == ["1|12|6"])
        }
    }

    /// Only the tables of the records within keep all rows, and with them the rows to which they refer.
    @Test(.onEachStore, arguments: [false, true]) func aParentThatLeftIsDeleted(isMarked: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = mapping(isMarked ? "deleted = \"gone_at\"" : "", table: Self.lines)
            let present = isMarked ? " WHERE gone_at IS NULL" : ""
            fixture.server.document("/a", "<a>\(item("1", "10"))\(item("2", "20", lines: 1))\(item("3", "30"))</a>")
            #expect(try await fixture.sync(sources).first?.error == nil)
            fixture.server.document("/a", "<a>\(item("1", "x"))\(item("4", "40"))</a>")
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil && report.skipped == 1, "\(report.error ?? "")")
            #expect(report.counts.deleted == (isMarked ? 2 : 1))
            let left = isMarked ? ["1", "4"] : ["1", "2", "4"]
            #expect(try fixture.rows("SELECT id FROM thing\(present) ORDER BY id") == left)
            #expect(try fixture.rows("SELECT thing, n FROM line\(present)") == ["2|1"])
            #expect(report.note?.contains("no row of table 'line' was deleted") == true, "\(report.note ?? "")")
            #expect(report.note?.contains("no row of table 'thing'") == false, "\(report.note ?? "")")
            fixture.server.document("/a", "<a>\(item("1", "11"))</a>")
            #expect(try await fixture.sync(sources).first?.error == nil)
            #expect(try fixture.rows("SELECT id, size FROM thing\(present)") == ["1|11"])
            #expect(try fixture.rows("SELECT thing, n FROM line\(present)").isEmpty)
        }
    }

    /// A kept row keeps those to which it refers over another table, too.
    @Test(.onEachStore) func whatAKeptRowRefersToStaysAtAnyDepth() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = mapping(
                table: Self.lines + """

                    columns.size = { path = "@size", type = "integer", on_error = "skip" }
                    [[sources.s.requests.tables]]
                    table = "part"
                    element = "item/line/part"
                    key = ["line", "m"]
                    columns.line = { parent = "line" }
                    columns.m = { path = "@m", type = "integer" }
                    """)
            func item(_ id: Int, line size: String) -> String {
                "<item id='\(id)' size='1'><line n='1' size='\(size)'><part m='1'/></line></item>"
            }
            fixture.server.document("/a", "<a>\(item(1, line: "1"))\(item(2, line: "1"))<item id='3' size='1'/></a>")
            #expect(try await fixture.sync(sources).first?.error == nil)
            fixture.server.document("/a", "<a>\(item(1, line: "x"))</a>")
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil && report.counts.deleted == 1, "\(report)")
            #expect(try fixture.rows("SELECT id FROM thing ORDER BY id") == ["1", "2"])
            #expect(try fixture.rows("SELECT count(*) FROM line") == ["2"])
            #expect(try fixture.rows("SELECT count(*) FROM part") == ["2"])
        }
    }

    @Test(.onEachStore) func theRecordsWithinOneWithoutAKeyAreLeftOut() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = mapping(table: Self.lines)
            fixture.server.document("/a", "<a>\(item("1", "10", lines: 1))\(item("q", "20", lines: 1, 2))</a>")
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil && report.counts.inserted == 2, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT thing, n FROM line") == ["1|1"])
        }
    }
}
