import FeedModel
import TestEngine
import TestSupport
import Testing

@testable import TributaryEngine

/// Quoted names of members, also of those of which ``ElementNaming`` makes the same element name.
@Suite struct MemberNameTests {
    private static let sources = """
        [[sources.s.requests]]
        url = "URL/a"
        sync = "mirror"
        [[sources.s.requests.tables]]
        table = "price"
        element = "item"
        key = ["id"]
        [sources.s.requests.tables.columns]
        id = "'id'"
        usd = "'price ($)'"
        gbp = "'price (£)'"
        plain = "'price____'"
        any = "price____"
        """

    @Test func eachMemberGoesToItsColumn() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = """
                [{"id":1,"price ($)":10,"price (£)":9},{"id":2,"price (£)":19,"price ($)":20},
                {"id":3,"price (£)":29},{"id":4,"price____":5}]
                """
            fixture.server.route("/a") { _ in
                StubServer.response(200, body, ["Content-Type": "application/json"])
            }
            let report = try #require(await fixture.sync(Self.sources).first)
            #expect(report.error == nil)
            let rows = "SELECT id, usd, gbp, plain, any FROM price ORDER BY id"
            #expect(
                try fixture.rows(rows) == [
                    "1|10|9|NULL|10", "2|20|19|NULL|19", "3|NULL|29|NULL|29", "4|NULL|NULL|5|5",
                ])
        }
    }

    /// An object where a text was is a change of the feed, and no empty text.
    @Test(arguments: ["json", "xml"]) func anObjectIsNoText(format: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = """
                [[sources.s.requests]]
                url = "URL/a"
                sync = "mirror"
                tables = [{ table = "t", element = "item", key = ["id"], columns = { id = "id", n = "n", m = { path = "m", default = "?" } } }]
                """
            func sync(_ json: String, _ xml: String) async throws -> RunReport {
                fixture.server.route("/a") { _ in
                    StubServer.response(
                        200, format == "json" ? json : xml, ["Content-Type": "application/\(format)"])
                }
                return try #require(await fixture.sync(sources).first)
            }
            let first = try await sync(
                #"{"item":[{"id":1,"n":"a","m":""},{"id":2,"n":{"de":"b"},"m":{"de":"c"}}]}"#,
                "<r><item><id>1</id><n>a</n><m/></item><item><id>2</id><n> <de>b</de> </n><m><de>c</de></m></item></r>")
            #expect(first.error == nil, "\(first)")
            #expect(try fixture.rows("SELECT id, n, m FROM t ORDER BY id") == ["1|a|?", "2|NULL|?"])
            let changed = try await sync(
                #"{"item":[{"id":{"value":"1"}},{"id":{"value":"2"}}]}"#,
                "<r><item><id><value>1</value></id></item><item><id><value>2</value></id></item></r>")
            #expect(changed.outcome == .discarded, "\(changed)")
            #expect(try fixture.rows("SELECT count(*) FROM t") == ["2"])
        }
    }

    @Test func membersDoNotShareAKey() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = """
                [[sources.s.requests]]
                url = "URL/a"
                tables = [{ table = "t", element = "item", key = ["k"], columns = { k = "'a_b'", other = "'a b'" } }]
                """
            fixture.server.route("/a") { _ in
                StubServer.response(
                    200, #"[{"a b":"k1","a_b":"k2"},{"a b":"k1","a_b":"k3"}]"#, ["Content-Type": "application/json"])
            }
            try await fixture.sync(sources)
            #expect(try fixture.rows("SELECT k, other FROM t ORDER BY k") == ["k2|k1", "k3|k1"])
        }
    }
}
