import FeedModel
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// `staged.TABLE`, `min_rows` and `for_each` show the rows that the commit merges, and no others.
@Suite(.onEachStore) struct StagedTablesTests {
    private static let order = """
        [[sources.s.requests.tables]]
        table = "o"
        element = "o"
        key = ["id"]
        columns = { id = IDENTITY, name = "@name" }

        """
    private static let line = """
        [[sources.s.requests.tables]]
        table = "l"
        element = "l"
        key = ["o", "id"]
        columns = { o = { parent = "o" }, id = "@id" }

        """

    private func source(_ options: String = "", id: String = "\"@id\"", tables: String = order + line) -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        sync = "mirror"
        page = { next = "/f/next" }
        \(options)

        """ + tables.replacing("IDENTITY", with: id)
    }

    private func sync(_ fixture: EngineFixture, _ pages: [String], _ source: String) async throws -> RunReport {
        let paths = ["/a", "/b", "/c"]
        for (index, page) in pages.enumerated() {
            let next = index + 1 < pages.count ? "<next>\(paths[index + 1])</next>" : ""
            fixture.server.document(paths[index], "<f>\(page)\(next)</f>")
        }
        return try #require(try await fixture.sync(source, mode: .full).first)
    }

    private func expecting(_ sql: String) -> String { "expect = [{ sql = \"\(sql)\" }]" }

    private static let replaced = "<o id='1'><l id='OLD'/></o><o id='1'><l id='NEW'/></o>"

    @Test func recordsWithinReplacedOnesAreNotThere() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let one = expecting("SELECT count(*) = 1, count(*) AS lines FROM staged.l")
            let report = try await sync(fixture, [Self.replaced], source(one))
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT id FROM l") == ["NEW"])
            let least = try await sync(fixture, [Self.replaced], source("min_rows = 3"))
            #expect(least.error?.contains("gives 2 rows, fewer than min_rows = 3") == true, "\(least.error ?? "")")
            #expect(try await sync(fixture, [Self.replaced], source("min_rows = 2")).outcome == .committed)
        }
    }

    @Test func nothingIsAskedForRecordsWithinReplacedOnes() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let details = """
                [[sources.s.requests]]
                url = "URL/d/${row:id}"
                sync = "mirror"
                for_each = "SELECT id FROM staged.l"
                [[sources.s.requests.tables]]
                table = "d"
                element = "d"
                key = ["id"]
                columns = { id = "@id" }

                """
            for id in ["OLD", "NEW"] { fixture.server.document("/d/\(id)", "<f><d id='\(id)'/></f>") }
            let report = try await sync(fixture, [Self.replaced], source() + details)
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT id FROM d") == ["NEW"])
            #expect(fixture.server.requests("/d/OLD").isEmpty)
        }
    }

    /// Lines of both pages stay. The same line of both is one row.
    @Test(arguments: [true, false])
    func recordsThatGoOnInAnotherDocumentAreOne(givenKeys: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let pages = ["<o id='1'><l id='a'/><l id='b'/></o>", "<o id='1'><l id='b'/><l id='c'/></o>"]
            let orders =
                givenKeys
                ? Self.order
                : Self.order.replacing("[\"id\"]", with: "[\"code\"]").replacing("id = ", with: "code = ")
            let three = expecting("SELECT count(*) = 3, count(*) AS lines FROM staged.l")
            let report = try await sync(fixture, pages, source(three, tables: orders + Self.line))
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT id FROM l ORDER BY id") == ["a", "b", "c"])
        }
    }

    @Test func recordsWithinDeletedOnesAreNotThere() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let tables =
                Self.order.replacing("element = \"o\"", with: "element = \"o\"\ndeleted_when = \"name = 'gone'\"")
                + Self.line
            let page = "<o id='1' name='gone'><l id='a'/></o><o id='2'><l id='b'/></o>"
            let one = expecting("SELECT count(*) = 1, count(*) AS lines FROM staged.l")
            let report = try await sync(fixture, [page], source(one, tables: tables))
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT id FROM l") == ["b"])
        }
    }

    /// Numbers that are equal and written in different ways.
    @Test(arguments: ["", "expect = [{ sql = \"(SELECT count(*) FROM staged.o) = 1\" }]", "min_rows = 1"])
    func keysThatAreEqualInTheStoreAreOne(_ options: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let pages = ["<o id='1.0'><l id='old'/></o><o id='1.00'/>", "<o id='1.0' name='last'/>"]
            let id = "{ path = \"@id\", type = \"decimal\" }"
            let report = try await sync(fixture, pages, source(options, id: id))
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT name FROM o") == ["last"])
            #expect(try fixture.rows("SELECT id FROM l") == [])
            let two = try await sync(fixture, pages, source("min_rows = 2", id: id))
            #expect(two.error?.contains("gives 1 row, fewer") == true, "\(two.error ?? "")")
        }
    }

    @Test func oneRequestForKeysThatAreEqualInTheStore() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let details = """
                [[sources.s.requests]]
                url = "URL/d"
                parameters = { id = "${row:id}" }
                for_each = "SELECT id FROM staged.o"
                [[sources.s.requests.tables]]
                table = "d"
                element = "d"
                key = ["id"]
                columns = { id = "@id" }

                """
            fixture.server.document("/d", "<f><d id='x'/></f>")
            let id = "{ path = \"@id\", type = \"decimal\" }"
            let report = try await sync(
                fixture, ["<o id='0.1'/><o id='2'/><o id='0.10'/>"], source(id: id) + details)
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(fixture.server.requests("/d").count == 2)
        }
    }

    /// Tables of the store that have the names of Tributary's own in its scratch file.
    @Test func tablesOfTheStoreMayHaveAnyName() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS stage_1 (x TEXT); CREATE TABLE IF NOT EXISTS same_stage_1 (x TEXT);
                    CREATE TABLE IF NOT EXISTS lookup (x TEXT); CREATE TABLE IF NOT EXISTS link (x TEXT);
                    CREATE TABLE IF NOT EXISTS difference (x TEXT); CREATE TABLE IF NOT EXISTS overlay (x TEXT);
                    """)
            let sql = "(SELECT count(*) FROM staged.stage_1) + (SELECT count(*) FROM staged.lookup) = 0"
            let report = try await sync(fixture, [Self.replaced], source(expecting(sql)))
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT id FROM l") == ["NEW"])
        }
    }
}
