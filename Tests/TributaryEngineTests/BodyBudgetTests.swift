import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import TributaryEngine

/// Little in, much out: `max_body` bounds what a body becomes, whatever multiplies it.
@Suite struct BodyBudgetTests {
    private static func request(_ columns: String, _ options: String = "", element: String = "r") -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        \(options)
        [[sources.s.requests.tables]]
        table = "t"
        element = "\(element)"
        [sources.s.requests.tables.columns]
        \(columns)
        """
    }

    private func sync(_ body: String, _ columns: String, _ options: String = "", element: String = "r") async throws
        -> (report: RunReport, rows: [String])
    {
        var result: (RunReport, [String])?
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", body)
            let reports = try await fixture.sync(Self.request(columns, options, element: element))
            let report = try #require(reports.first)
            result = (report, report.outcome == .committed ? try fixture.rows("SELECT * FROM t") : [])
        }
        return try #require(result)
    }

    // MARK: - Several values of one column

    /// 60,000 values would copy 3.6 GB if each were joined to a copy of those before it.
    @Test func joiningIsLinear() async throws {
        let body = "<d><r>" + String(repeating: "<v>x</v><w>yz</w>", count: 60_000) + "</r><r><v>1</v></r></d>"
        let columns = """
            v = { path = "v", repeat = "join", separator = "," }
            w = { path = "w", repeat = "join", separator = "" }
            l = { path = "w", repeat = "last" }
            """
        let (report, rows) = try await sync(body, columns)
        #expect(report.outcome == .committed, "\(report)")
        let joined = Array(repeating: "x", count: 60_000).joined(separator: ",")
        #expect(rows.count == 2 && rows.last == "1|NULL|NULL")
        // Not compared by #expect itself, which would print them.
        let isJoined = rows.first == joined + "|" + String(repeating: "yz", count: 60_000) + "|yz"
        #expect(isJoined)
    }

    @Test func joiningForRecordsBelowIsLinear() async throws {
        let body = "<d>" + String(repeating: "<v>x</v>", count: 60_000) + "<r a='1'/><v>y</v></d>"
        let (report, rows) = try await sync(
            body, "a = \"@a\"\nv = { path = \"../v\", repeat = \"join\", separator = \"\" }")
        #expect(report.outcome == .committed, "\(report)")
        #expect(rows == ["1|" + String(repeating: "x", count: 60_000) + "y"])
    }

    @Test func valuesOfVaryingLengthsReplaceOneAnother() async throws {
        let body = "<d><r><v>a</v><u>1</u><v>long one</v><v/><v>bc</v><w>x</w><w/><w>yy</w></r></d>"
        let columns = """
            l = { path = "v", repeat = "last" }
            u = "u"
            j = { path = "w", repeat = "join", separator = "-" }
            e = { path = "v", repeat = "join", separator = "/" }
            """
        let (report, rows) = try await sync(body, columns)
        #expect(report.outcome == .committed && rows == ["bc|1|x--yy|a/long one//bc"], "\(report) \(rows)")
    }

    // MARK: - What a body becomes

    @Test func rowsHoldNoMoreTextThanMaxBody() async throws {
        // Each of 1,000 rows repeats 100 bytes of the root: 100 KB out of 4 KB.
        let body = "<d day='\(String(repeating: "x", count: 100))'>" + String(repeating: "<r/>", count: 1000) + "</d>"
        let columns = "day = \"../@day\"\nn = { ordinal = true }"
        let (refused, _) = try await sync(body, columns, "max_body = \"50KiB\"")
        #expect(refused.outcome == .discarded)
        #expect(
            refused.error?.contains("the rows of the body have more text than max_body, 51200 bytes") == true)
        let (report, rows) = try await sync(body, columns, "max_body = \"98KiB\"")
        #expect(report.outcome == .committed && rows.count == 1000, "\(report)")
    }

    @Test func aParsersRowsCountLikewise() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<items count='5000'/>")
            let request = EngineFixture.request("/a", "max_body = \"20KiB\"").replacing(
                "ItemsParser", with: "BulkParser")
            let report = try #require(try await fixture.sync(request).first)
            #expect(report.error?.contains("more text than max_body, 20480 bytes") == true, "\(report)")
            #expect(try fixture.rows("SELECT count(*) FROM item") == ["0"])
        }
    }

    @Test func attributeDefaultsCountAgainstMaxBody() async throws {
        let body =
            "<!DOCTYPE d [<!ATTLIST r a CDATA '\(String(repeating: "x", count: 1000))'>]><d>"
            + String(repeating: "<r/>", count: 1000) + "</d>"
        let (report, _) = try await sync(body, "v = \"v\"", "max_body = \"64KiB\"")
        #expect(report.error?.contains("attribute defaults would make it larger than max_body, 65536 bytes") == true)
    }

    @Test func compressedNothingCountsToo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let empty = Gzip.compressed("")
            let body = Gzip.compressed("<d>") + Array(repeatElement(empty, count: 500).joined())
            fixture.server.route("/a") { _ in StubServer.response(200, body) }
            let report = try #require(
                try await fixture.sync(Self.request("v = \"v\"", "max_body = \"4KiB\"")).first)
            #expect(report.error?.contains("larger than max_body, 4 KiB") == true, "\(report)")
        }
    }

    // MARK: - JSON

    /// As XML, 50,000 numbers under a name of 900 bytes would be 90 MB.
    @Test func longNamesInJSONMultiplyNothing() async throws {
        let name = String(repeating: "n", count: 900)
        let body = "{\"r\": {\"\(name)\": [" + Array(repeating: "1", count: 50_000).joined(separator: ",") + "]}}"
        let (report, rows) = try await sync(
            body, "v = { path = \"\(name)\", repeat = \"join\", separator = \"\" }", "max_body = \"200KiB\"")
        #expect(report.outcome == .committed && rows == [String(repeating: "1", count: 50_000)], "\(report)")
    }

    @Test func markupOfJSONCountsAsRows() async throws {
        let name = String(repeating: "n", count: 900)
        let body = "{\"r\": {\"\(name)\": [" + Array(repeating: "1", count: 20_000).joined(separator: ",") + "]}}"
        let (report, _) = try await sync(body, "x = { path = \".\", type = \"xml\" }")
        #expect(report.error?.contains("more than 16 MiB of elements that columns take whole") == true, "\(report)")
    }

    // MARK: - Elements taken whole

    @Test func textOfRecordsInRecordsIsKeptOnce() async throws {
        let depth = 300
        let body =
            "<d>" + (0..<depth).map { "<r>\($0)" }.joined() + "<v>!</v>" + String(repeating: "</r>", count: depth)
            + "</d>"
        let (report, rows) = try await sync(body, "t = \"string(.)\"")
        #expect(report.outcome == .committed && rows.count == depth, "\(report)")
        #expect(rows.first == "299!" && rows.last == (0..<depth).map { "\($0)" }.joined() + "!")
    }

    @Test func markupOfRecordsInRecordsDeclaresItsOwnPrefixes() async throws {
        let body = "<d xmlns:p='u'><r><p:a/><r p:b='1'><p:a xmlns:p='w'/><p:a/></r><p:a/></r></d>"
        let (report, rows) = try await sync(body, "x = { path = \".\", type = \"xml\" }")
        #expect(report.outcome == .committed, "\(report)")
        let inner = "<r xmlns:p=\"u\" p:b=\"1\"><p:a xmlns:p=\"w\"/><p:a/></r>"
        #expect(rows == [inner, "<r><p:a xmlns:p=\"u\"/>\(inner)<p:a xmlns:p=\"u\"/></r>"])
    }

    // MARK: - Values

    @Test func notANumberIsNoValue() async throws {
        let columns = "a = { path = \"@a\", type = \"real\" }"
        let (refused, _) = try await sync("<d><r a='1'/><r a='NaN'/></d>", columns)
        #expect(refused.error?.contains("\"NaN\" is not a number, or INF or -INF") == true, "\(refused)")
        let (report, rows) = try await sync(
            "<d><r a='INF'/><r a='NaN'/><r a='-INF'/></d>",
            "a = { path = \"@a\", type = \"real\", on_error = \"skip\" }")
        #expect(report.outcome == .committed && rows == ["inf", "-inf"], "\(report) \(rows)")
    }

    @Test func secondsTooFarAwayDoNotConvert() async throws {
        let columns = "a = { path = \"@a\", type = \"datetime\", format = \"%s\" }"
        for text in ["9223372036854775807", "253402300800", "-62167219201"] {
            let (report, _) = try await sync("<d><r a='\(text)'/></d>", columns)
            #expect(report.error?.contains("\"\(text)\" is not a time in the format %s") == true, "\(report)")
        }
    }

    // MARK: - Time

    /// A hundred and more attributes for each element of four bytes: minutes of work in a body that is here at once.
    @Test func theTimeoutEndsAPieceUnderWay() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let defaults = (0..<90).map { "<!ATTLIST r a\($0) CDATA 'x'>" }.joined()
            let body =
                Array("<!DOCTYPE d [\(defaults)]><d>".utf8) + Array(String(repeating: "<r/>", count: 2_000_000).utf8)
            let file = fixture.folder.file("long.xml")
            try Data(body).write(to: URL(fileURLWithPath: file))
            let source = Self.request("a = \"@a1\"", "timeout = \"1s\"\nmax_body = \"64GiB\"")
            let report = try #require(
                try await fixture.sync(source.replacingOccurrences(of: "URL/a", with: "file://" + file)).first)
            #expect(report.error?.contains("not complete within") == true, "\(report)")
            #expect(report.bytes < body.count)
        }
    }
}
