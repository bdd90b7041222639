import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing

@testable import TributaryEngine

/// `${now:FORMAT}`: the time of the run in what a request sends.
@Suite struct RunTimeTests {
    /// 08:00 of 2027-01-15 in UTC.
    private static let morning = Date(timeIntervalSince1970: 1_800_000_000)

    /// Returns the query that a parameter with this text is sent as, with what the server decodes.
    private func sent(_ text: String, at moment: Date = morning, zone: String? = nil) async throws -> String {
        var found = ""
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let zone = zone.map { "[sources.s]\ntime_zone = \"\($0)\"\n" } ?? ""
            let request = EngineFixture.request("/a", "parameters = { t = \"\(text)\" }")
            let report = try await fixture.sync(zone + request, clock: ManualClock(moment)).first
            #expect(report?.error == nil)
            let query = try #require(fixture.server.requests("/a").first).query
            found = String(query.dropFirst(2)).removingPercentEncoding ?? ""
        }
        return found
    }

    @Test func everyTextOfARequestHasTheTime() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/2027/01/15/17.xml", EngineFixture.items(["1"]))
            let report = try await fixture.sync(
                """
                [sources.s]
                time_zone = "Asia/Tokyo"
                [[sources.s.requests]]
                url = "URL/${now:yyyy/MM/dd}/${now:HH}.xml"
                parser = "ItemsParser"
                method = "POST"
                headers = { X-Until = "${now:EEE, dd MMM yyyy}" }
                parameters = { from = "${now:%Y-%m-%d,-1d}" }
                body = { xml = { ask = { "@at" = "${now:yyyy-MM-dd'T'HH:mm:ssZZZZZ}" } } }
                """, clock: ManualClock(Self.morning)
            ).first
            #expect(report?.error == nil && report?.counts.inserted == 1, "\(String(describing: report))")
            let request = try #require(fixture.server.requests().first)
            #expect(request.query == "from=2027-01-14")
            #expect(request.headers["x-until"] == "Fri, 15 Jan 2027")
            #expect(request.body.contains("<ask at=\"2027-01-15T17:00:00+09:00\""), "\(request.body)")
        }
    }

    @Test(arguments: [
        ("${now:yyyyMMddHHmmss,-90s}", "20270115075830"), ("${now:HH:mm,+2h}", "10:00"), ("${now:HH:mm,-30m}", "07:30"),
        ("${now:yyyy-MM-dd,-2w}", "2027-01-01"), ("${now:yyyy-MM-dd, -15d}", "2026-12-31"), ("${now:%s}", "1800000000"),
        ("${now:yyyy-MM-dd,-1d}/${now:yyyy-MM-dd}", "2027-01-14/2027-01-15"),
    ])
    func offsets(text: String, expected: String) async throws {
        #expect(try await sent(text) == expected)
    }

    /// On 2026-03-29 the clocks of Berlin go from 02:00 to 03:00: that day has 23 hours.
    @Test(arguments: [
        ("", "2026-03-30T02:30+0200"), (",-1d", "2026-03-29T03:30+0200"), (",-24h", "2026-03-29T01:30+0100"),
        (",-2d", "2026-03-28T02:30+0100"), (",-1w", "2026-03-23T02:30+0100"),
    ])
    func daysAreThoseOfTheZone(offset: String, expected: String) async throws {
        let moment = Date(timeIntervalSince1970: 1_774_830_600)
        #expect(try await sent("${now:yyyy-MM-dd'T'HH:mmZ\(offset)}", at: moment, zone: "Europe/Berlin") == expected)
    }

    @Test func aFileIsNamedByTheTime() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = fixture.folder.file("2027-01-15")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(EngineFixture.items(["1"]).utf8).write(to: URL(filePath: folder + "/a.xml"))
            for name in ["a.xml", "*.xml"] {
                let report = try await fixture.sync(
                    """
                    [[sources.s.requests]]
                    url = "file://\(fixture.folder.path)/${now:yyyy-MM-dd}/\(name)"
                    parser = "ItemsParser"
                    """, clock: ManualClock(Self.morning)
                ).first
                #expect(report?.error == nil, "\(String(describing: report))")
                #expect(try fixture.rows("SELECT count(*) FROM item") == ["1"])
            }
        }
    }

    /// The validators of one day's document say nothing about another day's.
    @Test func anAddressWithTheTimeIsNotConditional() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/20270115", EngineFixture.items(["1"]), etag: "\"1\"")
            fixture.server.document("/20270116", EngineFixture.items(["2"]), etag: "\"1\"")
            let request = EngineFixture.request("/${now:yyyyMMdd}")
            try await fixture.sync(request, clock: ManualClock(Self.morning))
            try await fixture.sync(request, clock: ManualClock(Self.morning + 86_400))
            #expect(fixture.server.requests().map(\.path) == ["/20270115", "/20270116"])
            #expect(fixture.server.requests().allSatisfy { $0.headers["if-none-match"] == nil })
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "2"])
        }
    }

    /// The host is the declaration's choice: what is declared for the source goes there, and it may be private.
    @Test func aHostWithTheTimeIsDeclared() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            // The tenth of a second is the address's last number.
            let request = EngineFixture.request("/a", "headers = { X-Key = \"k\" }")
                .replacingOccurrences(of: "URL/", with: "http://127.0.0.${now:S}:\(fixture.server.port)/")
            let report = try await fixture.sync(request, clock: ManualClock(Self.morning + 0.15)).first
            #expect(report?.error == nil, "\(String(describing: report))")
            #expect(fixture.server.requests("/a").first?.headers["x-key"] == "k")
        }
    }

    @Test(arguments: [
        ("/${now:YYYY}", "'Y' is not a letter of a date; the letters are y (year)"),
        ("/${now:%Q}", "'%Q' is not a letter of a date; the letters are %Y"), ("/${now:}", "no letter of a date"),
        ("/${now:'x'}", "no letter of a date"), ("/${now:yyyy,1d}", "'1d' is not an offset"),
        ("/${now:yyyy,-1y}", "'-1y' is not an offset"), ("/${now:yyyy,-9999999w}", "of at most 36525d"),
        ("/${now:yyyy,-99999999999999999999d}", "of at most 36525d"),
    ])
    func wrongForms(path: String, expected: String) async throws {
        try await EngineFixture.expectMistake(EngineFixture.request(path), expected)
    }

    @Test func aTimeIsNoWholeAddress() async throws {
        try await EngineFixture.expectMistake(
            "[[sources.s.requests]]\nurl = \"${now:yyyy}\"\nparser = \"ItemsParser\"\n", "cannot be used")
    }
}
