import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import FeedConfiguration
@testable import TributaryEngine

/// `slices`: a request for each span of a time.
@Suite struct SliceTests {
    private static func source(_ slices: String, _ options: String = "") -> String {
        """
        [[sources.s.requests]]
        url = "URL/sales"
        parameters = { from = "${slice:from}", to = "${slice:to}" }
        slices = { \(slices) }
        tables = [{ table = "sale", element = "sale", key = ["id"], columns = { id = "@id", day = "@day" } }]
        \(options)

        """
    }

    /// Answers with one sale on the first day of the requested span.
    private static func serveSales(_ fixture: EngineFixture) {
        fixture.server.route("/sales") { request in
            let day = request.query.dropFirst("from=".count).prefix(10)
            return StubServer.response(200, "<sales><sale id='\(day)' day='\(day)'/></sales>")
        }
    }

    // MARK: - Spans

    private static let noon = Date(timeIntervalSince1970: 1_800_014_400)

    private func spans(
        _ from: String, _ to: String?, step: Int, overlap: Int = 0, in zone: TimeZoneRules = .utc
    ) throws -> [String] {
        let slices = SliceDeclaration(
            from: InterpolatedText(from), to: to.map { InterpolatedText($0) }, step: .seconds(step),
            overlap: .seconds(overlap))
        return try slices.spans(from: from, to: to, now: Self.noon, zone: zone).map { span in
            "\((span["from"] ?? nil) ?? "")/\((span["to"] ?? nil) ?? "")"
        }
    }

    @Test func aSpanBeginsWhereTheLastOneEnds() throws {
        let day = 86_400
        #expect(
            try spans("2026-02-26", "2026-03-03", step: 2 * day) == [
                "2026-02-26/2026-02-28", "2026-02-28/2026-03-02", "2026-03-02/2026-03-03",
            ])
        #expect(
            try spans("2026-01-02", "2026-01-03", step: 2 * day, overlap: day) == ["2026-01-01/2026-01-03"])
        // 2027-01-15, 12:00 UTC.
        #expect(try spans("2027-01-14", nil, step: day) == ["2027-01-14/2027-01-15"])
        #expect(try spans("2027-01-15", nil, step: day) == ["2027-01-15/2027-01-15"])
        #expect(try spans("2027-01-16", nil, step: day).isEmpty)
        #expect(
            try spans("2027-01-15 06:00:00+01", nil, step: 14_400) == [
                "2027-01-15T05:00:00Z/2027-01-15T09:00:00Z", "2027-01-15T09:00:00Z/2027-01-15T12:00:00Z",
            ])
        #expect(try spans("2027-01-15T12:00:00Z", nil, step: day).isEmpty)
    }

    @Test(arguments: [
        ("", "2026-01-02", 86_400, "'from' has no value yet; give the first one"),
        ("x", "2026-01-02", 86_400, "'from' is neither a day (2026-01-31) nor a time"),
        ("2026-01-01", "2026-01-02T00:00:00Z", 86_400, "must both be days, or both times"),
        ("2026-01-01", "2026-01-02", 3_600, "'step' must be in whole days, because '2026-01-01' is a day"),
        ("2020-01-01", "2026-01-02", 86_400, "there are more than 1000 spans"),
    ])
    func spansThatCannotBeMadeAreRefused(from: String, to: String, step: Int, expected: String) {
        #expect {
            try spans(from, to, step: step)
        } throws: { error in
            "\(error)".contains(expected)
        }
    }

    // MARK: - Runs

    @Test(.onEachStore) func aRunContinuesWhereTheTableEnds() async throws {
        try await EngineFixture.with { (fixture) async throws in
            Self.serveSales(fixture)
            let slices =
                "from = \"${last:coalesce(max(day), '2026-01-01')}\", to = \"2026-01-10\", step = \"4d\", overlap = \"1d\""
            let first = try #require(try await fixture.sync(Self.source(slices)).first)
            #expect(first.error == nil && first.counts.inserted == 3, "\(first)")
            #expect(
                fixture.server.requests("/sales").map(\.query).sorted() == [
                    "from=2025-12-31&to=2026-01-04", "from=2026-01-04&to=2026-01-08", "from=2026-01-08&to=2026-01-10",
                ])
            let second = try #require(try await fixture.sync(Self.source(slices)).first)
            #expect(second.error == nil && second.counts.inserted == 1, "\(second)")
            #expect(fixture.server.requests("/sales").last?.query == "from=2026-01-07&to=2026-01-10")
            #expect(fixture.server.requests("/sales").count == 4)
        }
    }

    @Test func aSpanThatFailsDiscardsAll() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/sales") { request in
                request.query.hasPrefix("from=2026-01-02")
                    ? StubServer.response(500, "") : StubServer.response(200, "<sales><sale id='1'/></sales>")
            }
            let source = Self.source("from = \"2026-01-01\", to = \"2026-01-04\"")
            let report = try #require(try await fixture.sync(source).first)
            #expect(report.outcome == .discarded)
            let expected = "item 2 of 3 (from = 2026-01-02, to = 2026-01-03)"
            #expect(report.error?.contains(expected) == true, "\(report)")
        }
    }

    /// A command loads a span of its own. The declaration stays the same.
    @Test func aGivenSpanTakesThePlaceOfTheDeclaredOne() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let declared = try fixture.configuration(
                Self.source("from = \"2026-01-01\", to = \"2026-01-04\", overlap = \"1d\""))
            let loading = try #require(
                declared.loading(SliceDeclaration.Given(from: "2025-01-01", to: "2025-01-02"), of: "s"))
            #expect(loading[source: "s"]?.identity == declared[source: "s"]?.identity)
            let (request, former) = (loading[source: "s"]?.requests.first, declared[source: "s"]?.requests.first)
            #expect(request?.digest == former?.digest)
            guard case .slices(let slices)? = request?.forEach?.rows else {
                Issue.record("the request has no slices")
                return
            }
            let spans = try slices.spans(from: "2025-01-01", to: "2025-01-02", now: Self.noon, zone: .utc)
            #expect(spans == [["from": "2025-01-01", "to": "2025-01-02"]])
            #expect(declared.loading(SliceDeclaration.Given(), of: "t") == nil)
        }
    }

    // MARK: - Mistakes

    @Test(arguments: [
        ("from = \"soon\"", "", "slices.from: 'from' is neither a day (2026-01-31) nor a time"),
        ("from = \"2026-01-01\", to = \"2026-01-02T00:00:00Z\"", "", "slices.to: must be a day if 'from' is one"),
        ("from = \"2026-01-01\", step = \"12h\"", "", "'step' must be in whole days, because '2026-01-01' is a day"),
        ("from = \"${slice:to}\"", "", "slices.from: takes no ${slice:…} and no ${row:…}"),
        ("to = \"now\"", "", "slices: 'from' is missing"),
        ("from = \"2026-01-01\"", "sync = \"mirror\"", "slices: a mirror would delete the rows of all other spans"),
        ("from = \"2026-01-01\"", "for_each = \"SELECT 1\"", "slices: found 'for_each' and 'slices'; give only one"),
        ("from = \"2026-01-01\"", "headers = { X = \"${slice:until}\" }", "write ${slice:from} or ${slice:to}"),
        ("from = \"2026-01-01\"", "headers = { X = \"${row:id}\" }", "${row:id} requires 'for_each'"),
        ("from = \"2026-01-01\"", "capture = { a = \"/a\" }", "a request with 'slices' has several responses"),
    ])
    func mistakesSayWhatToWrite(slices: String, options: String, expected: String) async throws {
        try await EngineFixture.expectMistake(Self.source(slices, options), expected)
    }

    @Test func boundsNeedSlicesAndSlicesBounds() async throws {
        try await EngineFixture.expectMistake(
            EngineFixture.request("/a", "parameters = { from = \"${slice:from}\" }"), "${slice:from} requires 'slices'")
        try await EngineFixture.expectMistake(
            EngineFixture.request("/a", "slices = { from = \"2026-01-01\" }"),
            "slices: the request would be the same for each span")
    }
}
