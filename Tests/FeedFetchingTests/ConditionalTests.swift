@testable import FeedConfiguration
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

/// Validators, and what a stack does with requests of which some have changed.
@Suite struct ConditionalTests {
    @Test(.onEachStore) func validatorsAreSentBackByteForByte() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let headers = ["ETag": "W/\"ä, x\"", "Last-Modified": "Sat,  21 Nov 2026 01:00:00 GMT"]
            fixture.server.route("/a") { request in
                if request.headers["if-none-match"] != nil { return [StubServer.head(304, [:])] }
                return StubServer.response(200, EngineFixture.items(["1"]), headers)
            }
            #expect(try await fixture.sync(EngineFixture.request("/a")).first?.outcome == .committed)
            #expect(try await fixture.sync(EngineFixture.request("/a")).first?.outcome == .unchanged)
            let last = try #require(fixture.server.requests("/a").last)
            #expect(last.headers["if-none-match"] == "W/\"ä, x\"")
            #expect(last.headers["if-modified-since"] == "Sat,  21 Nov 2026 01:00:00 GMT")
            #expect(try fixture.rows("SELECT outcome FROM tributary_run") == ["committed", "unchanged"])
            // Unconditional where it is asked for, and where the declaration has changed.
            try await fixture.sync(EngineFixture.request("/a"), mode: .full)
            try await fixture.sync(EngineFixture.request("/a", "headers = { X = \"1\" }"))
            #expect(fixture.server.requests("/a").suffix(2).allSatisfy { $0.headers["if-none-match"] == nil })
        }
    }

    /// The rows' own validators stay, so that a server that was wrong once does not freeze the source.
    @Test func aWrong304ChangesNoValidator() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let count = Mutex(0)
            fixture.server.route("/a") { request in
                let number = count.withLock {
                    $0 += 1; return $0
                }
                let etag = number == 1 ? "\"a\"" : "\"b\""
                let modified = number == 1 ? "Sat, 21 Nov 2026 01:00:00 GMT" : "Sun, 22 Nov 2026 01:00:00 GMT"
                let headers = ["ETag": etag, "Last-Modified": modified]
                if number == 2 || request.headers["if-none-match"] == etag { return [StubServer.head(304, headers)] }
                return StubServer.response(200, EngineFixture.items(number == 1 ? ["1"] : ["1", "2"]), headers)
            }
            var outcomes: [RunOutcome?] = []
            for _ in 0..<4 { outcomes.append(try await fixture.sync(EngineFixture.request("/a")).first?.outcome) }
            #expect(outcomes == [.committed, .unchanged, .committed, .unchanged])
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "2"])
        }
    }

    @Test(arguments: ["*", ""]) func anETagThatWouldAlwaysMatchIsNotSent(etag: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in StubServer.response(200, EngineFixture.items(["1"]), ["ETag": etag]) }
            for _ in 0..<2 { try await fixture.sync(EngineFixture.request("/a")) }
            #expect(fixture.server.requests("/a").allSatisfy { $0.headers["if-none-match"] == nil })
        }
    }

    @Test func aDiscardedRunStoresNoValidators() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"a\"")
            fixture.server.route("/b") { _ in StubServer.response(500, "") }
            let stack = EngineFixture.request("/a") + EngineFixture.request("/b")
            #expect(try await fixture.sync(stack).first?.outcome == .discarded)
            #expect(try await fixture.sync(stack).first?.outcome == .discarded)
            #expect(fixture.server.requests("/a").allSatisfy { $0.headers["if-none-match"] == nil })
            #expect(try fixture.rows("SELECT * FROM tributary_request").isEmpty)
        }
    }

    @Test(.onEachStore) func aMixtureOf304And200KeepsWhatDidNotChange() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/companies", "<c><company id='c' name='C'/></c>", etag: "\"1\"")
            fixture.server.document("/items", "<items><item id='1' company='c'/></items>", etag: "\"1\"")
            let stack = """
                [[sources.s.requests]]
                url = "URL/companies"
                parser = "CompaniesParser"
                sync = "mirror"
                [[sources.s.requests]]
                url = "URL/items"
                parser = "ItemsParser"
                sync = "mirror"
                """
            try await fixture.sync(stack)
            fixture.server.document("/items", "<items><item id='2' company='c'/></items>", etag: "\"2\"")
            let report = try #require(try await fixture.sync(stack).first)
            #expect(report.outcome == .committed, "\(report)")
            #expect(report.requests.map(\.outcome) == [.unchanged, .parsed])
            #expect(report.counts.inserted == 1 && report.counts.deleted == 1)
            #expect(try fixture.rows("SELECT id, company FROM item") == ["2|c"])
            #expect(try fixture.rows("SELECT key, etag FROM tributary_request ORDER BY key") == ["1|\"1\"", "2|\"2\""])
            #expect(try await fixture.sync(stack).first?.outcome == .unchanged)
        }
    }

    /// Two requests mirror one table: when one has changed, the other is fetched again in the same run.
    @Test func noDeletionIsDecidedOnHalfOfTheData() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1", "2"]), etag: "\"a1\"")
            fixture.server.document("/b", EngineFixture.items(["3"]), etag: "\"b1\"")
            let stack =
                EngineFixture.request("/a", "sync = \"mirror\"") + EngineFixture.request("/b", "sync = \"mirror\"")
            try await fixture.sync(stack)
            #expect(try await fixture.sync(stack).first?.outcome == .unchanged)
            fixture.server.document("/b", EngineFixture.items(["4"]), etag: "\"b2\"")
            let report = try #require(try await fixture.sync(stack).first)
            #expect(report.counts.inserted == 1 && report.counts.deleted == 1 && report.counts.unchanged == 2)
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "2", "4"])
            #expect(
                fixture.server.requests("/a").map { $0.headers["if-none-match"] } == [nil, "\"a1\"", "\"a1\"", nil])
            #expect(fixture.server.requests("/b").count == 3)
        }
    }

    @Test func sourcesThatMirrorTheSameRowsAreRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            fixture.server.document("/b", EngineFixture.items(["2"]))
            func source(_ name: String, _ scope: String) -> String {
                EngineFixture.request("/" + name, "sync = \"mirror\"\n\(scope)", of: name)
            }
            #expect(throws: ConfigurationError.self) { try fixture.configuration(source("a", "") + source("b", "")) }
            let apart = source("a", "scope = { company = \"x\" }") + source("b", "scope = { company = \"y\" }")
            #expect(try fixture.configuration(apart).sources.count == 2)
        }
    }

    /// What a parser writes without saying so is known once it has been committed.
    @Test(.onEachStore) func sourcesThatTurnOutToMirrorTheSameRowsAreRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<c><company id='a' name='A'/></c>")
            fixture.server.document("/b", "<c><company id='b' name='B'/></c>")
            func source(_ name: String) -> String {
                "[[sources.\(name).requests]]\nurl = \"URL/\(name)\"\nparser = \"CompaniesParser\"\nsync = \"mirror\"\n"
            }
            try await fixture.sync(source("a"))
            let report = try #require(try await fixture.sync(source("a") + source("b"), ["b"]).first)
            #expect(report.outcome == .discarded)
            #expect(
                report.error?.contains(
                    "table 'company' is mirrored by request '1' of source 'b' and by request '1' of source 'a'")
                    == true,
                "\(report)")
            #expect(try fixture.rows("SELECT id FROM company") == ["a"])
            // What is no longer declared claims nothing.
            #expect(try await fixture.sync(source("b")).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT id FROM company") == ["b"])
        }
    }

    /// Two companies, and the items of one of them, mirrored.
    private func serveCompanies(_ fixture: EngineFixture) -> String {
        fixture.server.document("/c", "<c><company id='x' name='X'/><company id='y' name='Y'/></c>", etag: "\"c\"")
        fixture.server.document("/y", "<i><item id='3' company='y'/></i>", etag: "\"y\"")
        return "[[sources.c.requests]]\nurl = \"URL/c\"\nparser = \"CompaniesParser\"\n"
            + EngineFixture.request("/y", "sync = \"mirror\"\nscope = { company = \"y\" }", of: "y")
    }

    /// A deletion makes those requests unconditional whose rows it may have taken, and no others.
    @Test(.onEachStore) func deletionsAskAgainOnlyForRowsOfTheirScope() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources =
                serveCompanies(fixture)
                + EngineFixture.request("/x", "sync = \"mirror\"\nscope = { company = \"x\" }", of: "x")
                + EngineFixture.request("/z", "", of: "z")
            fixture.server.document("/x", "<i><item id='1' company='x'/><item id='2' company='x'/></i>", etag: "\"x\"")
            fixture.server.document("/z", EngineFixture.items(["5"]), etag: "\"z\"")
            for name in ["c", "x", "y", "z"] { try await fixture.sync(sources, [name]) }
            fixture.server.document("/x", "<i><item id='1' company='x'/></i>", etag: "\"x2\"")
            #expect(try await fixture.sync(sources, ["x"]).first?.counts.deleted == 1)
            #expect(
                try fixture.rows("SELECT source, etag FROM tributary_request ORDER BY source")
                    == ["c|\"c\"", "x|\"x2\"", "y|\"y\"", "z|NULL"])
        }
    }

    /// A feed may hold rows of another scope than its request's: what deletes those makes it unconditional, too.
    @Test(.onEachStore) func aRowOutsideItsScopeIsAskedForAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources =
                serveCompanies(fixture)
                + EngineFixture.request("/x", "scope = { company = \"x\" }", of: "x")
            fixture.server.document("/x", "<i><item id='1' company='x'/><item id='2' company='y'/></i>", etag: "\"x\"")
            for name in ["c", "x", "y"] { try await fixture.sync(sources, [name]) }
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "3"])
            try await fixture.sync(sources, ["x"])
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "2", "3"])
        }
    }

    /// The first request's bytes are those of last time: its rows stay, whatever else the stack commits.
    @Test func anUnchangedMirrorWithoutValidatorsKeepsItsRows() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stack =
                "[[sources.s.requests]]\nurl = \"URL/c\"\nparser = \"CompaniesParser\"\nsync = \"mirror\"\n"
                + EngineFixture.request("/i", "sync = \"mirror\"")
            fixture.server.document("/c", "<c><company id='c' name='C'/></c>")
            fixture.server.document("/i", EngineFixture.items(["1"]))
            try await fixture.sync(stack)
            fixture.server.document("/i", EngineFixture.items(["2"]))
            let report = try #require(try await fixture.sync(stack).first)
            #expect(report.requests.map(\.outcome) == [.unchanged, .parsed])
            #expect(report.counts.inserted == 1 && report.counts.deleted == 1, "\(report)")
            #expect(try fixture.rows("SELECT id FROM company") == ["c"])
            #expect(try fixture.rows("SELECT id FROM item") == ["2"])
        }
    }

    /// Validators stand for rows: when a request goes and comes back, its rows have gone with it.
    @Test(.onEachStore) func aRequestThatComesBackIsUnconditional() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"a\"")
            fixture.server.document("/b", EngineFixture.items(["2"]), etag: "\"b\"")
            let a = EngineFixture.request("/a", "key = \"a\"\nsync = \"mirror\"")
            let b = EngineFixture.request("/b", "key = \"b\"\nsync = \"mirror\"")
            try await fixture.sync(a + b)
            try await fixture.sync(a, mode: .full)
            #expect(try fixture.rows("SELECT id FROM item") == ["1"])
            #expect(try await fixture.sync(a + b).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["1", "2"])
        }
    }

    @Test(.onEachStore) func anEmptyMirrorWhereItIsAllowed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let options = "sync = \"mirror\"\nallow_empty = true"
            fixture.server.document("/a", EngineFixture.items(["1", "2"]))
            try await fixture.sync(EngineFixture.request("/a", options))
            fixture.server.document("/a", "<items/>")
            let report = try #require(try await fixture.sync(EngineFixture.request("/a", options)).first)
            #expect(report.outcome == .committed && report.counts.deleted == 2, "\(report)")
            #expect(try fixture.rows("SELECT * FROM item").isEmpty)
        }
    }

    @Test func dueTimesAreKept() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let source = "[sources.s]\ncache = \"10m\"\n" + EngineFixture.request("/a")
            func outcome(_ mode: RefreshMode = .whenDue) async throws -> RunOutcome? {
                try await fixture.sync(source, mode: mode, clock: fixture.clock).first?.outcome
            }
            #expect(try await outcome() == .committed)
            fixture.clock.advance(by: 599)
            #expect(try await outcome() == .notDue)
            #expect(try await outcome(.force) == .unchanged)
            fixture.clock.advance(by: 599)
            #expect(try await outcome() == .notDue)
            fixture.clock.advance(by: 1)
            #expect(try await outcome() == .unchanged)
            #expect(fixture.server.requests("/a").count == 3)
        }
    }

    @Test func backOffGrowsAndEnds() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in StubServer.response(503, "") }
            let source = "[sources.s]\ncache = \"10m\"\n" + EngineFixture.request("/a")
            #expect(try await fixture.sync(source, mode: .whenDue, clock: fixture.clock).first?.outcome == .discarded)
            #expect(try await fixture.sync(source, mode: .whenDue, clock: fixture.clock).first?.outcome == .notDue)
            fixture.clock.advance(by: 73)
            #expect(try await fixture.sync(source, mode: .whenDue, clock: fixture.clock).first?.outcome == .discarded)
            fixture.clock.advance(by: 73)
            #expect(try await fixture.sync(source, mode: .whenDue, clock: fixture.clock).first?.outcome == .notDue)
            fixture.server.document("/a", EngineFixture.items(["1"]))
            fixture.clock.advance(by: 73)
            #expect(try await fixture.sync(source, mode: .whenDue, clock: fixture.clock).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT failures, error FROM tributary_source") == ["0|NULL"])
        }
    }
}
