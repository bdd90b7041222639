import FeedModel
import FeedStores
import TestEngine
import TestStores
import TestSupport
import Testing
import XMLStream
@testable import FeedConfiguration
@testable import FeedParsing
@testable import TributaryEngine

/// Pages in HTML by a mapping, and the paths that they need: `//name`, positions and words of a list.
@Suite struct HTMLMappingTests {
    private static let declaration = """
        [sources.s]
        [[sources.s.requests]]
        url = "URL/page"
        format = "html"
        sync = "mirror"
        [[sources.s.requests.tables]]
        table = "price"
        element = "//table[@class~='prices']/tbody/tr"
        key = ["sku"]
        [sources.s.requests.tables.columns]
        sku = "td[1]"
        name = "string(td[2])"
        link = "td[2]/a/@href"
        price = { path = "td[3][@class~='net']", type = "decimal", decimal_separator = "," }
        day = "//p[@id='day']"

        """

    private static let page = """
        <!DOCTYPE html><html><head><meta charset=utf-8><title>Prices</title></head><body>
        <table class=nav><tbody><tr><td>no<td>row</table>
        <TABLE class="wide prices"><thead><tr><th>SKU<th>Name<th>Price</thead><tbody>
        <tr><td>a1<td><b>Tea</b>, <a href="/a1">green</a><td class="net big">2,50
        <tr class=odd><td>b2<td>Jam<td class=gross>3,00
        </table><p id=day>2026-11-27</p></body></html>
        """

    @Test(.onEachStore) func theRowsOfATableAreRecords() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/page", Self.page, type: "text/html")
            let report = try await fixture.sync(Self.declaration, mode: .full).first
            #expect(report?.error == nil, "\(String(describing: report))")
            let rows = ["a1|Tea, green|/a1|2.5|2026-11-27", "b2|Jam|NULL|NULL|2026-11-27"]
            #expect(
                try fixture.rows("SELECT sku, name, link, price, day FROM price ORDER BY sku").map {
                    $0.replacing("2.50", with: "2.5")
                } == rows)

            // An error page has no such row, and the rows stay.
            fixture.server.document("/page", "<html><body><h1>Maintenance</h1></body></html>", type: "text/html")
            let failed = try await fixture.sync(Self.declaration, mode: .full).first
            let error = try #require(failed?.error)
            #expect(error.contains("no element of the document is '//table[@class~='prices']/tbody/tr'"), "\(error)")
            #expect(error.contains("/html/body/h1"), "\(error)")
            #expect(try fixture.rows("SELECT count(*) FROM price") == ["2"])
        }
    }

    /// The same paths in XML: positions begin again in each parent, and count one name.
    @Test func positionsAndWordsAreReadInXML() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let document = """
                <r><x><i c="p q"><a>1</a><b>x</b><a><n>2</n></a><a>3</a></i></x><i c="q"><a>4</a><a><n>5</n></a></i>\
                <i c="pq"><a>6</a></i><t>T</t></r>
                """
            fixture.server.document("/feed", document)
            let source = """
                [sources.s]
                [[sources.s.requests]]
                url = "URL/feed"
                [[sources.s.requests.tables]]
                table = "i"
                element = "//i[@c~='q']"
                key = ["one"]
                columns = { one = "a[1]", two = "a[2]/n", three = "a[3]", t = "//t" }

                """
            let report = try await fixture.sync(source, mode: .full).first
            #expect(report?.error == nil, "\(String(describing: report))")
            #expect(try fixture.rows("SELECT one, two, three, t FROM i ORDER BY one") == ["1|2|3|T", "4|5|NULL|T"])
        }
    }

    @Test func aPageNamesTheNextOne() throws {
        let paths = ["//a[@rel~='next']/@href", "//h1", "/html/body/p"]
        let captures = CaptureHandler(try paths.map { try XMLPathParser.parse($0) })
        let stream = XMLStreamParser(handler: captures)
        let page =
            "<div><a rel=prev href=p><a rel='nofollow next' href=n>more</a></div><h1>Titel</h1><p>x<div><p>y</div>"
        let reader = HTMLStreamParser(stream, charset: nil)
        try Array(page.utf8).withUnsafeBytes { try reader.read($0) }
        try reader.finish()
        try stream.finish()
        #expect(captures.values == [0: "n", 1: "Titel", 2: "x"])
    }

    @Test(arguments: [
        ("a//b", "'//' may only stand at the beginning, at character 3"),
        ("//", "an element's name is missing after '//', at character 3"),
        ("//@id", "an element's name is missing after '//', at character 3"),
        ("td[0]", "a position is a number from 1, at character 4"),
        ("td[99999999999999999999]", "a position is a number from 1, at character 4"),
        ("*[2]", "a position needs an element's name, as in td[2], at character 4"),
        ("td[@a][2]", "a position stands first, as in td[2][@class='price'], at character 9"),
        ("td[2][3]", "a position stands first, as in td[2][@class='price'], at character 8"),
        ("td[2", "']' is missing, at character 5"),
        (
            "td[@a~='']",
            "'~=' asks for one word, at character 8; write a condition for each, as in [@a~='x'][@a~='y']"
        ),
        ("td[@a~'x']", "'=', '!=', '~=' or ']' is missing, at character 6"),
    ])
    func aMistakeIsNamed(_ text: String, _ problem: String) {
        let error = #expect(throws: XMLPathParser.Problem.self) { try XMLPathParser.parse(text) }
        #expect(error?.description == "'\(text)' is not a path: \(problem)")
    }

    @Test func onlyMappingsAskForPositions() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let text = """
                [sources.s]
                [[sources.s.requests]]
                url = "URL/page"
                format = "html"
                repair = ["entities"]
                page = { next = "//a[2]/@href" }
                tables = [{ table = "t", element = "//tr", key = ["id"], columns = { id = "td[1]" } }]

                """
            let error = #expect(throws: ConfigurationError.self) { try fixture.configuration(text) }
            let problems = error?.problems.map { "\($0)" }.joined(separator: "\n") ?? ""
            #expect(problems.contains("'//a[2]/@href' asks for a position, which only a mapping's paths may"))
            #expect(problems.contains("repair: requires format = \"xml\""))
        }
    }
}
