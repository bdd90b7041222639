import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine

/// Which rows a request stands for: those that it wrote, wherever its declaration says that they should be.
@Suite(.onEachStore) struct ClaimTests {
    /// `<places>` of these ids and regions.
    private func places(_ places: [(String, String?)]) -> String {
        "<places>"
            + places.map { "<p id='\($0.0)'\($0.1.map { " region='\($0)'" } ?? "")/>" }.joined() + "</places>"
    }

    /// A request that maps places, with the region from the feed or from its scope.
    private func request(
        _ path: String, of source: String = "s", scope: String, sync: String = "mirror", fillsRegion: Bool = true
    ) -> String {
        """
        [[sources.\(source).requests]]
        key = "\(path)"
        url = "URL/\(path)"
        scope = { \(scope) }
        tables = [{ table = "place", element = "p", key = ["id"], sync = "\(sync)", columns = { id = "@id"\
        \(fillsRegion ? ", region = \"@region\"" : "") } }]

        """
    }

    /// A's scope is `a`, and its feed fills the region with `b`, which B mirrors.
    @Test(arguments: [true, false])
    func aRowOutsideTheScopeOfItsRequestIsNotDeletedByAnotherOfTheStack(hasValidators: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            func etag(_ text: String) -> String? { hasValidators ? "\"\(text)\"" : nil }
            fixture.server.document("/a", places([("1", "b")]), etag: etag("a"))
            fixture.server.document("/b", places([("2", "b")]), etag: etag("b"))
            let stack = request("a", scope: "region = \"a\"") + request("b", scope: "region = \"b\"")
            #expect(try await fixture.sync(stack).first?.outcome == .committed)
            // Twice, so that what is remembered of an unchanged request is what its rows claim, too.
            for _ in 0..<2 { #expect(try await fixture.sync(stack).first?.outcome == .unchanged) }
            fixture.server.document("/b", places([("3", "b")]), etag: etag("b2"))
            let report = try #require(try await fixture.sync(stack).first)
            #expect(report.counts.inserted == 1 && report.counts.deleted == 1, "\(report)")
            #expect(try fixture.rows("SELECT id, region FROM place ORDER BY id") == ["1|b", "3|b"])
        }
    }

    /// The second request takes the row over, and then no longer has it.
    @Test(arguments: [true, false])
    func aRowThatAnotherRequestTookOverComesBack(isOneStack: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try schema(fixture, "TEXT")
            let second = isOneStack ? "s" : "t"
            fixture.server.document("/a", places([("1", nil), ("4", nil)]), etag: "\"a\"")
            fixture.server.document("/b", places([("1", nil), ("2", nil)]), etag: "\"b\"")
            let sources =
                request("a", scope: "region = \"a\"", fillsRegion: false)
                + request("b", of: second, scope: "Region = \"b\"", fillsRegion: false)
            for name in isOneStack ? ["s"] : ["s", "t"] { try await fixture.sync(sources, [name]) }
            #expect(try fixture.rows("SELECT id, region FROM place ORDER BY id") == ["1|b", "2|b", "4|a"])
            fixture.server.document("/b", places([("2", nil)]), etag: "\"b2\"")
            for name in isOneStack ? ["s"] : ["t", "s"] { try await fixture.sync(sources, [name]) }
            #expect(try fixture.rows("SELECT id, region FROM place ORDER BY id") == ["1|a", "2|b", "4|a"])
        }
    }

    /// A row that is kept as it is stays where another request has put it.
    @Test func aKnownRowThatIsKeptIsItsRequestsToo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try schema(fixture, "TEXT")
            fixture.server.document("/b", places([("1", nil), ("2", nil)]), etag: "\"b\"")
            fixture.server.document("/a", places([("1", nil)]), etag: "\"a\"")
            let stack =
                request("b", scope: "region = \"b\"", fillsRegion: false)
                + request("a", scope: "region = \"a\"", sync: "insert", fillsRegion: false)
            try await fixture.sync(stack)
            fixture.server.document("/b", places([("2", nil)]), etag: "\"b2\"")
            try await fixture.sync(stack)
            #expect(try fixture.rows("SELECT id FROM place ORDER BY id") == ["1", "2"])
        }
    }

    /// A mirror within its parents deletes children that another request of the stack has written.
    @Test func aMirrorWithinParentsDecidesOnWholeData() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stack = """
                [[sources.s.requests]]
                url = "URL/shops"
                [[sources.s.requests.tables]]
                table = "shop"
                element = "shop"
                key = ["id"]
                columns = { id = "@id" }
                [[sources.s.requests.tables]]
                table = "item"
                element = "shop/item"
                key = ["id"]
                within = "company"
                columns = { id = "@id", company = { parent = "shop" } }
                [[sources.s.requests]]
                url = "URL/more"
                tables = [{ table = "item", element = "item", key = ["id"], columns = { id = "@id", company = "@shop" } }]

                """
            try fixture.write(schema: "CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, company TEXT)")
            fixture.server.document("/shops", "<s><shop id='x'><item id='1'/></shop></s>", etag: "\"1\"")
            fixture.server.document("/more", "<s><item id='2' shop='x'/></s>", etag: "\"1\"")
            try await fixture.sync(stack)
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "2"])
            fixture.server.document("/shops", "<s><shop id='x'><item id='3'/></shop></s>", etag: "\"2\"")
            try await fixture.sync(stack)
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["2", "3"])
        }
    }

    // MARK: - Values that a column holds for equal

    private static let equals = [
        ("INTEGER", "1", "01"), ("TEXT COLLATE NOCASE", "X", "x"), ("TEXT COLLATE RTRIM", "a", "a "),
        ("REAL", "1", "1.0"), ("NUMERIC", "10", "1e1"),
    ]

    private func schema(_ fixture: EngineFixture, _ type: String) throws {
        // White space at the end of a `character` has no meaning.
        let types = ["TEXT COLLATE NOCASE": "citext", "TEXT COLLATE RTRIM": "character(3)"]
        let type = StoreKind.by(sqlite: type, postgres: types[type] ?? type)
        try fixture.write(schema: "CREATE TABLE IF NOT EXISTS place (id TEXT PRIMARY KEY, region \(type));")
    }

    @Test(arguments: equals)
    func sourcesWhoseScopesTheColumnEquatesAreRefused(type: String, one: String, other: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try schema(fixture, type)
            fixture.server.document("/a", places([("1", nil)]))
            fixture.server.document("/b", places([("2", nil)]))
            let sources =
                request("a", of: "a", scope: "region = \"\(one)\"", fillsRegion: false)
                + request("b", of: "b", scope: "REGION = \"\(other)\"", fillsRegion: false)
            try await fixture.sync(sources, ["a"])
            let report = try #require(try await fixture.sync(sources, ["b"]).first)
            #expect(report.error?.contains("'place' is mirrored by request 'b' of source 'b'") == true, "\(report)")
            #expect(try fixture.rows("SELECT id FROM place") == ["1"])
        }
    }

    /// The other source does not mirror: its rows may go, and are asked for again.
    @Test(arguments: equals)
    func validatorsAreForgottenWhereTheColumnEquatesScopes(type: String, one: String, other: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try schema(fixture, type)
            fixture.server.document("/a", places([("1", nil)]))
            fixture.server.document("/b", places([("2", nil)]))
            let sources =
                request("a", of: "a", scope: "region = \"\(one)\"", sync: "upsert", fillsRegion: false)
                + request("b", of: "b", scope: "region = \"\(other)\"", fillsRegion: false)
            for name in ["a", "b", "a"] { try await fixture.sync(sources, [name]) }
            #expect(try fixture.rows("SELECT id FROM place ORDER BY id") == ["1", "2"])
        }
    }

    @Test(arguments: equals)
    func requestsOfAStackWhoseScopesTheColumnEquatesAreAskedTogether(
        type: String, one: String, other: String
    ) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try schema(fixture, type)
            fixture.server.document("/a", places([("1", nil)]), etag: "\"a\"")
            fixture.server.document("/b", places([("2", nil)]), etag: "\"b\"")
            let stack =
                request("a", scope: "region = \"\(one)\"", fillsRegion: false)
                + request("b", scope: "region = \"\(other)\"", fillsRegion: false)
            try await fixture.sync(stack)
            fixture.server.document("/b", places([("3", nil)]), etag: "\"b2\"")
            try await fixture.sync(stack)
            #expect(try fixture.rows("SELECT id FROM place ORDER BY id") == ["1", "3"])
        }
    }

    /// A feed that writes the scope's value in another dress is inside it.
    @Test func aRowWithAnEqualValueIsInItsScope() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try schema(fixture, "TEXT COLLATE NOCASE")
            fixture.server.document("/a", places([("1", "x")]), etag: "\"a\"")
            try await fixture.sync(request("a", scope: "region = \"X\""))
            #expect(try fixture.rows("SELECT scope FROM tributary_request") == ["{\"region\":\"X\"}"])
        }
    }

    @Test func theLastValueIsThatOfTheScopeAsTheColumnComparesIt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try schema(fixture, "INTEGER")
            fixture.server.document("/a", places([("7", "1")]))
            let source = request("a", scope: "region = \"01\"", sync: "upsert")
                .replacingOccurrences(of: "tables =", with: "parameters = { since = \"${last:max(id)}\" }\ntables =")
            try await fixture.sync(source)
            try await fixture.sync(source)
            #expect(fixture.server.requests("/a").map(\.query) == ["", "since=7"])
        }
    }

    // MARK: - What the declaration does

    /// The rows of a request that has gone stay; the key under which it comes back knows nothing of them.
    @Test func aRequestUnderAnotherKeyIsUnconditional() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", places([("1", "a")]), etag: "\"a\"")
            let before = request("a", scope: "region = \"a\"")
            try await fixture.sync(before)
            let after = before.replacingOccurrences(of: "key = \"a\"", with: "key = \"z\"")
            #expect(try await fixture.sync(after).first?.counts.unchanged == 1)
            #expect(try fixture.rows("SELECT key FROM tributary_request") == ["z"])
        }
    }

    /// A request's scope is declared anew: what it wrote before is nobody's, and stays.
    @Test func aRequestWithAnotherScopeStandsForWhatItWritesNow() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try schema(fixture, "TEXT")
            fixture.server.document("/a", places([("1", nil)]), etag: "\"a\"")
            fixture.server.document("/b", places([("2", nil)]), etag: "\"b\"")
            func stack(_ scope: String) -> String {
                request("a", scope: "region = \"\(scope)\"", fillsRegion: false)
                    + request("b", scope: "region = \"b\"", fillsRegion: false)
            }
            try await fixture.sync(stack("a"))
            try await fixture.sync(stack("b"))
            #expect(try fixture.rows("SELECT id, region FROM place ORDER BY id") == ["1|b", "2|b"])
            fixture.server.document("/b", places([("3", nil)]), etag: "\"b2\"")
            try await fixture.sync(stack("b"))
            #expect(try fixture.rows("SELECT id FROM place ORDER BY id") == ["1", "3"])
        }
    }

    /// A source that is switched off claims nothing; when it is back, what was deleted meanwhile is asked for.
    @Test func aSourceThatWasSwitchedOffGetsItsRowsBack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", places([("1", "x")]), etag: "\"a\"")
            fixture.server.document("/b", places([("2", "x")]), etag: "\"b\"")
            let a = request("a", of: "a", scope: "region = \"x\"")
            let b = request("b", of: "b", scope: "region = \"x\"")
            try await fixture.sync(a)
            let off = "[sources.a]\nenabled = false\n" + a + b
            #expect(try await fixture.sync(off, ["b"]).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT id FROM place") == ["2"])
            let back = a + "[sources.b]\nenabled = false\n" + b
            #expect(try await fixture.sync(back, ["a"]).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT id FROM place") == ["1"])
        }
    }

    /// A request that has moved to another source is that source's first.
    @Test func aRequestOfAnotherSourceIsUnconditional() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", places([("1", "x")]), etag: "\"a\"")
            try await fixture.sync(request("a", of: "a", scope: "region = \"x\""))
            let report = try #require(try await fixture.sync(request("a", of: "b", scope: "region = \"x\"")).first)
            #expect(report.outcome == .committed && report.counts.unchanged == 1, "\(report)")
        }
    }
}
