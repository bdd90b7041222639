import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Stacks that are read in each run: pages, `for_each`, `until`, captured values. Their runs are unchanged if all documents
/// are those of the last commit.
@Suite struct UnchangedStackTests {
    private static func table(_ name: String, _ more: String = "") -> String {
        "tables = [{ table = \"\(name)\", element = \"item\", key = [\"id\"], columns = { id = \"@id\", \(more)name = \"name\" } }]"
    }

    private func run(
        _ fixture: EngineFixture, _ sources: String, mode: RefreshMode = .force
    ) async throws -> RunReport {
        try #require(try await fixture.sync(sources, mode: mode).first)
    }

    /// Two pages; the second one has the name that is given.
    private func serve(_ fixture: EngineFixture, name: String) {
        fixture.server.route("/p") { request in
            let isSecond = request.query == "t=2"
            let item = "<item id='\(isSecond ? 2 : 1)'><name>\(isSecond ? name : "n")</name></item>"
            return StubServer.response(200, "<r>\(item)\(isSecond ? "" : "<next>2</next>")</r>")
        }
    }

    private static let paged = """
        [[sources.s.requests]]
        key = "pages"
        url = "URL/p"
        sync = "mirror"
        page = { token = "/r/next", parameter = "t" }
        \(table("thing"))

        """

    @Test func pagesAreComparedTogether() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, name: "old")
            #expect(try await run(fixture, Self.paged).counts.inserted == 2)
            let second = try await run(fixture, Self.paged)
            #expect(second.outcome == .unchanged && second.requests.map(\.outcome) == [.unchanged], "\(second)")
            #expect(fixture.server.requests("/p").count == 4)
            #expect(try await run(fixture, Self.paged, mode: .full).outcome == .committed)
            #expect(try await run(fixture, Self.paged).outcome == .unchanged)
            // The rows of the equal page stay.
            serve(fixture, name: "new")
            let third = try await run(fixture, Self.paged)
            #expect(third.outcome == .committed && third.counts.updated == 1 && third.counts.deleted == 0, "\(third)")
            #expect(try fixture.rows("SELECT name FROM thing ORDER BY id") == ["n", "new"])
            // A table that someone has emptied gets its rows again.
            try fixture.store.execute("DELETE FROM thing")
            #expect(try await run(fixture, Self.paged).counts.inserted == 2)
        }
    }

    /// The other request is asked whether it has changed, and is not fetched again because of an equal page.
    @Test func anEqualPageMakesNoOtherRequestRepeated() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stack = """
                [[sources.s.requests]]
                url = "URL/a"
                \(Self.table("thing"))

                """ + Self.paged
            fixture.server.document("/a", EngineFixture.items(["a"]), etag: "\"1\"")
            serve(fixture, name: "old")
            #expect(try await run(fixture, stack).counts.inserted == 3)
            #expect(try await run(fixture, stack).outcome == .unchanged)
            #expect(fixture.server.requests("/a").count == 2)
            // Both of a changed stack are merged: the mirror knows the rows of both.
            serve(fixture, name: "new")
            let third = try await run(fixture, stack)
            #expect(third.counts.updated == 1 && third.counts.deleted == 0, "\(third)")
        }
    }

    @Test func rowsAndTheirDocumentsAreComparedTogether() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stack = """
                [[sources.s.requests]]
                url = "URL/list"
                sync = "mirror"
                \(Self.table("head"))
                [[sources.s.requests]]
                key = "details"
                url = "URL/d/${row:id}"
                for_each = { rows = "SELECT id, name FROM staged.head ORDER BY id", on_error = "skip" }
                sync = "mirror"
                \(Self.table("line", "of = { row = \"name\" }, "))
                """
            func list(_ name: String) {
                fixture.server.document("/list", EngineFixture.items(["a", "b"], name: name), etag: "\"\(name)\"")
            }
            list("one")
            fixture.server.document("/d/a", EngineFixture.items(["1"]))
            fixture.server.document("/d/b", EngineFixture.items(["2"]))
            #expect(try await run(fixture, stack).counts.inserted == 4)
            #expect(try await run(fixture, stack).outcome == .unchanged)
            // Only what a column takes from the row differs.
            list("two")
            #expect(try await run(fixture, stack).counts.updated == 4)
            #expect(try fixture.rows("SELECT DISTINCT of FROM line") == ["two"])
            #expect(try await run(fixture, stack).outcome == .unchanged)
            fixture.server.document("/d/b", EngineFixture.items(["2"], name: "new"))
            let changed = try await run(fixture, stack)
            #expect(changed.counts.updated == 1 && changed.counts.deleted == 0, "\(changed)")
            // An item that is left out is told at each run.
            fixture.server.route("/d/b") { _ in StubServer.response(404, "") }
            for _ in 1...2 {
                let partial = try await run(fixture, stack)
                #expect(partial.outcome == .committed && partial.note?.contains("left out") == true, "\(partial)")
            }
            #expect(try fixture.rows("SELECT count(*) FROM line") == ["2"])
        }
    }

    @Test func aFreshTokenIsNoDifference() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stack = """
                [[sources.s.requests]]
                key = "login"
                url = "URL/login"
                method = "POST"
                capture = { token = "/t" }
                [[sources.s.requests]]
                url = "URL/a"
                headers = { X-Token = "${capture:token}" }
                \(Self.table("thing"))
                """
            let logins = Mutex(0)
            fixture.server.route("/login") { _ in
                let number = logins.withLock { number in
                    number += 1
                    return number
                }
                return StubServer.response(200, "<t>token-\(number)</t>")
            }
            fixture.server.document("/a", EngineFixture.items(["a"]))
            #expect(try await run(fixture, stack).outcome == .committed)
            #expect(try await run(fixture, stack).outcome == .unchanged)
            #expect(
                fixture.server.requests("/a").compactMap { $0.headers["x-token"] } == ["token-1", "token-2"])
            // A column that holds it differs.
            let holding = stack.replacing("name = \"name\"", with: "name = { capture = \"token\" }")
            #expect(try await run(fixture, holding).outcome == .committed)
            #expect(try await run(fixture, holding).counts.updated == 1)
        }
    }

    @Test func theAddressIsComparedWhereAColumnHoldsIt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stack = """
                [[sources.s.requests]]
                key = "head"
                url = "URL/head"
                capture = { address = "/v" }
                [[sources.s.requests]]
                url = "${capture:address}"
                \(Self.table("thing"))
                """
            let holding = stack.replacing("name = \"name\"", with: "name = { response = \"url\" }")
            for number in 1...3 { fixture.server.document("/a/\(number)", EngineFixture.items(["a"])) }
            for (version, isEqual, sources) in [
                (1, false, stack), (1, true, stack), (2, true, stack),
                (2, false, holding), (2, true, holding), (3, false, holding),
            ] {
                fixture.server.document("/head", "<v>/a/\(version)</v>")
                let report = try await run(fixture, sources)
                #expect(report.outcome == (isEqual ? .unchanged : .committed), "\(version), \(report)")
            }
            #expect(try fixture.rows("SELECT name FROM thing").first?.hasSuffix("/a/3") == true)
        }
    }

    /// The same answer to another question is another observation.
    @Test func requestsThatAppendAreNotCompared() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stack = Self.paged.replacing("sync = \"mirror\"", with: "sync = \"append\"")
                .replacing("key = [\"id\"], ", with: "")
            serve(fixture, name: "n")
            for _ in 1...2 { #expect(try await run(fixture, stack).counts.inserted == 2) }
        }
    }

    /// Of rows that several requests write, the last one counts.
    @Test func anotherOrderOfTheRequestsIsADifference() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func request(_ key: String) -> String {
                Self.paged.replacing("key = \"pages\"", with: "key = \"\(key)\"").replacing("URL/p", with: "URL/\(key)")
                    .replacing("mirror", with: "upsert")
            }
            for key in ["a", "b"] { fixture.server.document("/\(key)", EngineFixture.items(["1"], name: key)) }
            for (keys, name) in [(["a", "b"], "b"), (["b", "a"], "a"), (["b"], "b")] {
                let stack = keys.map(request).joined()
                for outcome in [RunOutcome.committed, .unchanged] {
                    #expect(try await run(fixture, stack).outcome == outcome, "\(keys)")
                }
                #expect(try fixture.rows("SELECT name FROM thing") == [name])
            }
        }
    }

    /// What refers to expired rows is read, although its document has not changed.
    @Test func expiredRowsAreDeletedTogetherWithTheDocuments() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stack = Self.paged.replacing("sync = \"mirror\"", with: "expire = { column = \"at\", after = \"1d\" }")
                .replacing("name = \"name\"", with: "name = \"name\", at = { path = \"at\", type = \"datetime\" }")
            let clock = SystemClock()
            let at = clock.now().addingTimeInterval(-86_390).formatted(.iso8601)
            fixture.server.document("/p", "<r><item id='1'><name>n</name><at>\(at)</at></item></r>")
            #expect(try await run(fixture, stack).counts.inserted == 1)
            #expect(try await run(fixture, stack).outcome == .unchanged)
            let later = ManualClock(clock.now() + 60)
            let report = try #require(try await fixture.sync(stack, clock: later).first)
            #expect(report.outcome == .committed && report.counts.deleted == 1, "\(report)")
            #expect(report.requests.map(\.outcome) == [.parsed])
            #expect(try await fixture.sync(stack, clock: later).first?.outcome == .unchanged)
        }
    }

    /// A row that is seen again has another time, and does not expire.
    @Test func rowsThatHoldTheTimeAreNotCompared() async throws {
        try await EngineFixture.with { (fixture) async throws in
            serve(fixture, name: "n")
            let seen = Self.paged.replacing(
                "name = \"name\"", with: "seen = { response = \"fetched_at\", type = \"datetime\" }")
            for _ in 1...2 { #expect(try await run(fixture, seen).outcome == .committed) }
            let first = seen.replacing("\"datetime\"", with: "\"datetime\", overwrite = false")
            for outcome in [RunOutcome.committed, .unchanged] {
                #expect(try await run(fixture, first).outcome == outcome)
            }
            let derived = first.replacing("seen =", with: "day = { sql = \"substr(seen, 1, 10)\" }, seen =")
            for _ in 1...2 { #expect(try await run(fixture, derived).outcome == .committed) }
        }
    }

    /// Whether the feed is still the undone one cannot be told: cursors and tokens may differ each time.
    @Test func anUndoneFeedOfSeveralPagesIsHeldBackUntilItIsResumed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stack = "[sources.s]\nkeep_history = true\n" + Self.paged
            for name in ["old", "new"] {
                serve(fixture, name: name)
                #expect(try await run(fixture, stack).outcome == .committed)
            }
            #expect(try await run(fixture, stack).outcome == .unchanged)
            let configuration = try fixture.configuration(stack)
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            _ = try await UndoRun(
                "s", to: .lastChange, in: store, declaration: configuration[source: "s"],
                parsers: EngineFixture.registry
            ).run()
            #expect(try fixture.rows("SELECT name FROM thing ORDER BY id") == ["n", "old"])
            #expect(try await run(fixture, stack).outcome == .notDue)
            // The undone rows come again, although the documents are those of the last commit.
            #expect(try store.write { try $0.sources.resume(["s"]) } == ["s"])
            try store.close()
            #expect(try await run(fixture, stack).outcome == .committed)
            #expect(try fixture.rows("SELECT name FROM thing ORDER BY id") == ["n", "new"])
        }
    }
}
