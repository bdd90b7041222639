import FeedConfiguration
import FeedInferring
import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// What `infer` proposes for JSON, CSV and SOAP gives each value a column of its own.
@Suite struct InferredFormatTests {
    /// The proposal for a response, and the rows after a sync by it.
    private func propose(
        _ body: [UInt8], _ type: String, _ fixture: EngineFixture, format: BodyFormat? = nil, encoding: String? = nil
    ) async throws -> String {
        fixture.server.route("/feed") { _ in StubServer.response(200, body, ["Content-Type": type]) }
        var dialect = BodyDialect()
        dialect.format = format
        dialect.csv.encoding = encoding
        let inference = Inference(of: fixture.server.url + "/feed", dialect: dialect)
        return try await inference.proposal(
            Inference.Surroundings(name: "s", takenTables: [], writtenTables: [])
        ).toml
    }

    /// The rows of the only table that a proposal declares, the values of these paths in order.
    private func rows(_ toml: String, _ paths: [String], _ fixture: EngineFixture) async throws -> [String] {
        let report = try #require(try await fixture.sync(toml, mode: .full).first)
        #expect(report.error == nil, "\(report)\n\(toml)")
        let table = try #require(toml.firstMatch(of: /(?m)^table = "(.*)"$/)).output.1
        let columns = try paths.map { path in
            let declared = toml.split(separator: "\n").first { line in
                ["= \"\(path)\"", "path = \"\(path)\""].contains(where: line.contains)
            }
            return try #require(declared?.prefix { $0 != " " }, "\(path)\n\(toml)")
        }
        return try fixture.rows("SELECT \(columns.joined(separator: ", ")) FROM \(table) ORDER BY \(columns[0])")
    }

    /// The header is a row of the table, which no mapping takes for a record.
    @Test(.onEachStore) func theTablesOfAPageAreProposed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let page = """
                <!DOCTYPE html><h1>Prices</h1><table class=nav><tr><td>Home<td>About</table>
                <table class="wide prices"><tr><th>SKU<th>Name<th>Price (EUR)
                <tr><td>a1<td><a href=x>Tea</a>, green<td>2.50<tr><td>b2<td>Jam<td>3.00
                <tr><td>c3<td>Jam<td>13.25</table>
                """
            let toml = try await propose(Array(page.utf8), "text/html", fixture, format: .html)
            let parts = [
                "format = \"html\"", "table = \"s\"", "element = \"//table[@class~='wide'][@class~='prices']/tr\"",
                "key = [\"sku\"]", "where = '\"sku\" IS NOT NULL'", "price_eur",
            ]
            for part in parts { #expect(toml.contains(part), "\(part)\n\(toml)") }
            let rows = try await rows(toml, ["string(td[1])", "string(td[2])"], fixture)
            #expect(rows == ["a1|Tea, green", "b2|Jam", "c3|Jam"], "\(toml)")
        }
    }

    /// The header of GTFS Realtime shows the format, which the proposal names.
    @Test(.onEachStore) func aFeedOfGTFSRealtimeIsProposed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let vehicles = (1...3).map { number in
                WireMessage().text(1, "v\(number)").message(
                    4, WireMessage().message(2, WireMessage().float(1, 52.5).float(2, Float(number))).varint(4, 2))
            }
            let header = WireMessage().message(1, WireMessage().text(1, "2.0").varint(3, 1_790_000_000))
            let body = vehicles.reduce(header) { $0.message(2, $1) }.bytes
            let toml = try await propose(body, "application/octet-stream", fixture)
            for part in ["format = \"gtfs-realtime\"", "position/latitude", "current_status", "type = \"real\""] {
                #expect(toml.contains(part), "\(part)\n\(toml)")
            }
            #expect(try await rows(toml, ["id", "vehicle/position/longitude"], fixture).count == 3, "\(toml)")
        }
    }

    @Test func aPageWithoutAKeyHasItsRowsOnly() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let page = """
                <table id=t><tbody><tr><th>Day<th>Place<tr><th>Mon<td>A<tr><th>Mon<td>A<tr><th>Tue<td>B</table>
                """
            let toml = try await propose(Array(page.utf8), "text/html", fixture, format: .html)
            #expect(toml.contains("element = \"//table[@id='t']/tbody/tr\""), "\(toml)")
            let rows = try await rows(toml, ["string(td[1])"], fixture)
            #expect(rows == ["A", "A", "B"], "\(toml)")
        }
    }

    @Test func aPageWithoutAHeaderIsRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let error = await #expect(throws: InferenceError.self) {
                try await propose(Array("<table><tr><td>1</table>".utf8), "text/html", fixture, format: .html)
            }
            #expect(error?.description.contains("no table whose rows follow a header") == true)
        }
    }

    @Test func membersOfOneElementNameAreNotMixed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = """
                {"holding":[{"id":1,"share (%)":5,"share (#)":6,"share____":7},{"id":2,"share (#)":8},{"id":3,"share (%)":9,"share____":10}]}
                """
            let toml = try await propose(Array(body.utf8), "application/json", fixture)
            let rows = try await rows(toml, ["id", "'share (%)'", "'share (#)'", "'share____'"], fixture)
            #expect(rows == ["1|5|6|7", "2|NULL|8|NULL", "3|9|NULL|10"], "\(toml)")
        }
    }

    @Test func aMemberWithoutANameIsAPath() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = #"{"list":[{"id":1,"":"a"},{"id":2,"":"b"}]}"#
            let toml = try await propose(Array(body.utf8), "application/json", fixture)
            #expect(try await rows(toml, ["id", "_"], fixture) == ["1|a", "2|b"], "\(toml)")
        }
    }

    @Test func namesWithBothQuotesArePaths() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = "id,5\" O'Neil,it's,6\",a b\n1,p,q,r,s\n2,t,u,v,w\n"
            let toml = try await propose(Array(body.utf8), "text/csv", fixture)
            let rows = try await rows(
                toml, ["id", #"'5\" O''Neil'"#, #"\"it's\""#, #"'6\"'"#, "'a b'"], fixture)
            #expect(rows == ["1|p|q|r|s", "2|t|u|v|w"], "\(toml)")
        }
    }

    @Test(.onEachStore) func amountsAreDecimals() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = #"[{"id":"a","total":4.15},{"id":"b","total":3.0},{"id":"c","total":12}]"#
            let toml = try await propose(Array(body.utf8), "application/json", fixture)
            #expect(toml.contains(#"total = { path = "total", type = "decimal" }"#), "\(toml)")
            let rows = try await rows(toml, ["id"], fixture)
            #expect(rows == ["a", "b", "c"])
            let table = try #require(toml.firstMatch(of: /(?m)^table = "(.*)"$/)).output.1
            let sum = try fixture.rows("SELECT CAST(sum(total) AS TEXT) FROM \(table)")
            #expect(sum == ["19.15"], "\(toml)")
        }
    }

    @Test func bytesThatAreNotUTF8AreReadAsWindows1252() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = try #require("artikel;Größe\n1;grün\n2;weiß €\n".data(using: .windowsCP1252))
            let toml = try await propose(Array(body), "text/csv", fixture)
            #expect(toml.contains(#"csv = { delimiter = ";", encoding = "windows-1252" }"#), "\(toml)")
            #expect(toml.contains("# The bytes are not valid UTF-8, and are read as windows-1252"), "\(toml)")
            #expect(try await rows(toml, ["artikel", "Größe"], fixture) == ["1|grün", "2|weiß €"])
            // 0x81 is no letter there, either.
            await #expect {
                _ = try await propose(Array("a;b\n1;".utf8) + [0x81, 0x0A], "text/csv", fixture)
            } throws: { "\($0)".contains("the bytes are not valid UTF-8") }
        }
    }

    @Test func theGivenEncodingCounts() async throws {
        try await EngineFixture.with { (fixture) async throws in
            // Š, a quotation mark in windows-1252.
            let body = Array("id;name\n1;".utf8) + [0xA9] + Array("koda\n2;x\n".utf8)
            let toml = try await propose(body, "text/csv", fixture, encoding: "ISO-8859-2")
            #expect(toml.contains(#"csv = { delimiter = ";", encoding = "ISO-8859-2" }"#), "\(toml)")
            #expect(!toml.contains("windows-1252"))
            #expect(try await rows(toml, ["id", "name"], fixture) == ["1|Škoda", "2|x"])
            await #expect {
                _ = try await propose(body, "text/csv", fixture, encoding: "UTF-8")
            } throws: { "\($0)".contains("not valid UTF-8") }
            await #expect {
                _ = try await propose(Array("<a/>".utf8), "text/xml", fixture, encoding: "ISO-8859-2")
            } throws: { "\($0)".contains("an encoding is given for CSV, and the document is none") }
        }
    }

    /// The same proposal reads the message as it is, and as the response of an operation.
    @Test(arguments: ["http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope"])
    func pathsOfASOAPResponseBeginInsideItsBody(namespace: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let message = """
                <s:Envelope xmlns:s='\(namespace)'><s:Header><t>x</t></s:Header><s:Body><GetRatesResponse xmlns='urn:r'>
                <rates><rate code='USD'><v>1.1</v></rate><rate code='CHF'><v>0.9</v></rate></rates></GetRatesResponse></s:Body></s:Envelope>
                """
            var toml = try await propose(Array(message.utf8), "text/xml", fixture)
            #expect(toml.contains(#"element = "GetRatesResponse/rates/rate""#), "\(toml)")
            #expect(try await rows(toml, ["@code", "v"], fixture) == ["CHF|0.9", "USD|1.1"])
            let version = namespace.contains("2003") ? "1.2" : "1.1"
            let comments = [
                "[sources.s.requests.soap]", "version = \"\(version)\"", "action = \"…\"", "namespace = \"urn:r\"",
                "name = \"GetRates\"",
            ]
            for comment in comments {
                #expect(toml.contains("\n# \(comment)\n"), "\(comment)\n\(toml)")
                toml = toml.replacing("\n# \(comment)\n", with: "\n\(comment.replacing("…", with: "urn:r#GetRates"))\n")
            }
            #expect(try await rows(toml, ["@code", "v"], fixture) == ["CHF|0.9", "USD|1.1"])
            #expect(fixture.server.requests("/feed").last?.method == "POST")
        }
    }
}
