import FeedConfiguration
import FeedModel
import FeedStaging
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// `min_rows` and `expect`: conditions on the staged rows, before they are committed.
@Suite struct ExpectationTests {
    private static func mapping(_ options: String = "", tableOptions: String = "", key: String = "things") -> String {
        """
        [[sources.s.requests]]
        key = "\(key)"
        url = "URL/a"
        sync = "mirror"
        max_deleted = "100%"
        \(options)
        [[sources.s.requests.tables]]
        table = "thing"
        element = "item"
        key = ["id"]
        \(tableOptions)
        [sources.s.requests.tables.columns]
        id = "@id"
        price = { path = "@price", type = "decimal" }
        sold = { path = "@sold", type = "boolean" }

        """
    }

    private static func expecting(_ sql: String, _ options: String = "") -> String {
        mapping("expect = [{ sql = \"\(sql)\"\(options) }]")
    }

    private static func items(_ prices: [String]) -> String {
        let items = prices.enumerated().map { "<item id='\($0)' price='\($1)' sold='\($0 % 2 == 0)'/>" }
        return "<items>" + items.joined() + "</items>"
    }

    /// Syncs a document into a store that has another one's row, and returns the report.
    private func sync(_ mapping: String, _ document: String, _ fixture: EngineFixture) async throws -> RunReport {
        fixture.server.document("/a", document)
        return try #require(try await fixture.sync(mapping).first)
    }

    @Test(.onEachStore) func tooFewRowsDiscardTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let document = Self.items(["1", "2", "3"])
            #expect(try await sync(Self.mapping("min_rows = 3"), document, fixture).outcome == .committed)
            // Two records with one key are one row.
            let two = "<items><item id='0' price='1'/><item id='0' price='2'/><item id='1' price='3'/></items>"
            var report = try await sync(Self.mapping("min_rows = 3"), two, fixture)
            #expect(report.outcome == .discarded)
            let error = report.error ?? ""
            #expect(error.contains("request 'things': "), "\(error)")
            #expect(error.contains("the feed gives 2 rows, fewer than min_rows = 3"), "\(error)")
            report = try await sync(Self.mapping(tableOptions: "min_rows = 3"), two, fixture)
            #expect(
                report.error?.contains("gives 2 rows of table 'thing', fewer than min_rows = 3") == true,
                "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["3"])
            #expect(try await sync(Self.mapping(tableOptions: "min_rows = 2"), two, fixture).outcome == .committed)
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["2"])
        }
    }

    @Test(.onEachStore) func rowsOfAnotherRequestDoNotCount() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let both =
                Self.mapping().replacing("sync = \"mirror\"", with: "")
                + Self.mapping("min_rows = 2", key: "more").replacing("URL/a", with: "URL/b")
                .replacing("sync = \"mirror\"", with: "")
            fixture.server.document("/b", "<items><item id='9' price='1'/></items>")
            let report = try await sync(both, Self.items(["1", "2", "3"]), fixture)
            #expect(report.error?.contains("request 'more': ") == true, "\(report.error ?? "")")
            #expect(report.error?.contains("gives 1 row, fewer") == true, "\(report.error ?? "")")
        }
    }

    /// Requests that fill different columns of a row, or the same, each have it. What a request has twice is one row.
    @Test(
        .onEachStore, arguments: ["price = \"@price\"", "name = \"@name\""],
        ["\"@id\"", "{ path = \"@id\", type = \"decimal\" }"])
    func aRowOfSeveralRequestsCountsForEach(column: String, id: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            func request(_ key: String, _ column: String, _ least: Int, ofTable: Bool) -> String {
                """
                [[sources.s.requests]]
                key = "\(key)"
                url = "URL/\(key)"
                \(ofTable ? "" : "min_rows = \(least)")
                [[sources.s.requests.tables]]
                table = "t"
                element = "o"
                key = ["id"]
                columns = { id = \(id), \(column) }
                \(ofTable ? "min_rows = \(least)" : "")

                """
            }
            func sync(_ names: Int, _ prices: Int, ofTable: Bool = false) async throws -> RunReport {
                let sources =
                    request("names", "name = \"@name\"", names, ofTable: ofTable)
                    + request("prices", column, prices, ofTable: ofTable)
                return try #require(try await fixture.sync(sources, mode: .full).first)
            }
            fixture.server.document("/names", "<x><o id='1' name='n'/><o id='2' name='m'/></x>")
            fixture.server.document(
                "/prices", "<x><o id='1' price='0' name='x'/><o id='1' price='1' name='y'/><o id='3' price='1'/></x>")
            for ofTable in [false, true] {
                let report = try await sync(2, 2, ofTable: ofTable)
                #expect(report.outcome == .committed, "\(report.error ?? "")")
                let few = try await sync(3, 2, ofTable: ofTable)
                #expect(few.error?.contains("gives 2 rows") == true, "\(few.error ?? "")")
                let twice = try await sync(2, 3, ofTable: ofTable)
                #expect(twice.error?.contains("request 'prices': ") == true, "\(twice.error ?? "")")
                #expect(twice.error?.contains("gives 2 rows") == true, "\(twice.error ?? "")")
            }
        }
    }

    /// Numbers compare as numbers in either store, whatever they are staged as.
    @Test(
        .onEachStore,
        arguments: [
            "(SELECT count(*) FROM staged.thing) = 3", "SELECT price > 9 FROM staged.thing",
            "SELECT max(price) = 1000.5 FROM staged.thing", "(SELECT sum(sold) FROM staged.thing) = 2",
            "NOT EXISTS (SELECT 1 FROM staged.thing WHERE price IS NULL)",
            "WITH t AS (SELECT id FROM staged.thing) SELECT count(*) > 0 FROM t",
            "SELECT count(*) = 3 FROM thing -- all",
            "(SELECT count(*) FROM staged.item) = 0",
        ])
    func whatHoldsIsCommitted(_ sql: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let report = try await sync(Self.expecting(sql), Self.items(["10", "1000.5", "20.25"]), fixture)
            #expect(report.outcome == .committed && report.counts.inserted == 3, "\(report.error ?? "")")
            #expect(report.note == nil)
        }
    }

    @Test(
        .onEachStore,
        arguments: [
            ("(SELECT count(*) FROM staged.thing) > 3", "(it gave 0)"),
            ("SELECT price < 20 FROM staged.thing", "(it gave 0"),
            ("/* each */ -- of them\\nSELECT price < 20 FROM staged.thing", "(it gave 0"),
            ("SELECT count(*) > 3, count(*) AS rows, max(id) AS last FROM staged.thing", "(found rows = 3, last = 2)"),
            ("SELECT 1 FROM staged.thing WHERE id = 'x'", "(it gave no row)"), ("NULL", "(it gave NULL)"),
        ])
    func whatDoesNotHoldIsDiscarded(_ sql: String, found: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.expecting(sql, ", message = \"there are many things\"")
            let report = try await sync(mapping, Self.items(["10", "1000.5", "20.25"]), fixture)
            #expect(report.outcome == .discarded)
            let expected = "request 'things': the rows are not as expected: there are many things \(found)"
            #expect(report.error?.contains(expected) == true, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT count(*) FROM tributary_request WHERE etag IS NOT NULL") == ["0"])
            #expect(try fixture.rows("SELECT blocked FROM tributary_source") == ["0"])
        }
    }

    /// Without a message, the SQL says what is expected.
    @Test func theSQLIsItsOwnMessage() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let report = try await sync(Self.expecting("1 = 2"), Self.items(["10"]), fixture)
            #expect(
                report.error?.contains("not as expected: the expectation 1 = 2 is false: it gave 0") == true,
                "\(report.error ?? "")")
        }
    }

    @Test(
        .onEachStore,
        arguments: [
            "ATTACH '/tmp/other.sqlite' AS other", "DELETE FROM staged.thing", "SELECT 1; SELECT 2",
            "PRAGMA user_version",
            "SELECT load_extension('x')", "SELECT count(*) FROM staged.nothing", "CREATE TABLE staged.t (a)", "1 = ",
            "SELECT price2 FROM staged.thing",
        ])
    func whatIsNoConditionIsRefused(_ sql: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let report = try await sync(Self.expecting(sql), Self.items(["10"]), fixture)
            #expect(report.outcome == .discarded)
            #expect(report.error?.contains("request 'things': expect[1].sql ") == true, "\(report.error ?? "")")
            // `check` finds the same, in a store that has the tables.
            #expect(try await sync(Self.mapping(), Self.items(["10"]), fixture).outcome == .committed)
            let configuration = try fixture.configuration(Self.expecting(sql))
            let request = try #require(configuration[source: "s"]?.requests.first)
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            defer { try? store.close() }
            #expect(throws: StoreError.self) { try request.checkExpectations(store, source: "s") }
        }
    }

    @Test(.onEachStore) func checkTakesWhatIsACondition() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.expecting("SELECT price > 0 FROM staged.thing")
            #expect(try await sync(mapping, Self.items(["10"]), fixture).outcome == .committed)
            let configuration = try fixture.configuration(mapping)
            let request = try #require(configuration[source: "s"]?.requests.first)
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            defer { try? store.close() }
            try request.checkExpectations(store, source: "s")
        }
    }

    @Test func aWarningIsCommittedWithANote() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.expecting(
                "SELECT count(*) > 3, count(*) AS rows FROM staged.thing",
                ", message = \"few things\", on_failure = \"warn\"")
            let report = try await sync(mapping, Self.items(["10", "20"]), fixture)
            #expect(report.outcome == .committed && report.counts.inserted == 2)
            let expected = "request 'things': the rows are not as expected: few things (found rows = 2)"
            #expect(report.note?.contains(expected) == true, "\(report.note ?? "")")
            #expect(try fixture.rows("SELECT note FROM tributary_source").first?.contains(expected) == true)
        }
    }

    @Test func aBlockedRunIsCommittedOnceItIsAccepted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.expecting(
                "SELECT count(*) > 2, count(*) AS rows FROM staged.thing",
                ", message = \"few things\", on_failure = \"block\"")
            #expect(try await sync(mapping, Self.items(["1", "2", "3"]), fixture).outcome == .committed)
            fixture.server.document("/a", Self.items(["7", "8"]), etag: "\"2\"")
            let blocked = try #require(try await fixture.sync(mapping).first)
            #expect(blocked.outcome == .blocked)
            let error = blocked.error ?? ""
            #expect(
                error.contains("request 'things': the rows are not as expected: few things (found rows = 2)"),
                "\(error)")
            #expect(error.contains("`tributary accept s` lets the next run commit them"), "\(error)")
            #expect(try fixture.rows("SELECT blocked FROM tributary_source") == ["1"])
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["3"])
            // What the server has by now is not what was accepted.
            fixture.server.document("/a", Self.items(["5"]), etag: "\"3\"")
            try BlockedRunTests.accept(fixture, mapping)
            let accepted = try #require(try await fixture.sync(mapping, mode: .whenDue).first)
            #expect(accepted.error == nil && accepted.outcome == .committed, "\(accepted.error ?? "")")
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["2"])
            #expect(try fixture.rows("SELECT etag FROM tributary_request") == ["\"2\""])
            // It counts for these documents alone.
            #expect(try await fixture.sync(mapping).first?.outcome == .blocked)
        }
    }

    /// What exceeds a change limit and is not as expected is blocked for both, and accepted at once.
    @Test func limitsAndExpectationsBlockTogether() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.expecting("(SELECT count(*) FROM staged.thing) > 2", ", on_failure = \"block\"")
                .replacing("\"100%\"", with: "0")
            #expect(try await sync(mapping, Self.items(["1", "2", "3"]), fixture).outcome == .committed)
            let error = try await sync(mapping, Self.items(["7"]), fixture).error ?? ""
            #expect(error.contains("the rows are not as expected"), "\(error)")
            #expect(error.contains("; the commit would delete 2 of the 3 rows of table 'thing'"), "\(error)")
            try BlockedRunTests.accept(fixture, mapping)
            #expect(try await fixture.sync(mapping, mode: .whenDue).first?.counts.deleted == 2)
        }
    }

    /// A plan says what a run would say.
    @Test(arguments: ["discard", "block", "warn"]) func aPlanSaysWhatIsNotAsExpected(_ failure: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.expecting("1 = 2", ", message = \"nothing is\", on_failure = \"\(failure)\"")
            #expect(try await sync(Self.mapping(), Self.items(["1"]), fixture).outcome == .committed)
            fixture.server.document("/a", Self.items(["1", "2"]))
            let service = try fixture.service(mapping, clock: SystemClock())
            let source = try #require(service.configuration[source: "s"])
            var said: [String]
            var isBlocked = false
            do {
                let plan = try await service.plan(source) { _ in }
                isBlocked = plan.blocked != nil
                said = plan.blocked.map { [$0] } ?? plan.notes
            } catch {
                said = ["\(error)"]
            }
            try service.store.close()
            #expect(said.count == 1 && said[0].contains("nothing is (it gave 0)"), "\(said)")
            #expect(isBlocked == (failure == "block"), "\(said)")
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["1"])
        }
    }

    /// Rows that no longer fit into memory are looked at, too, and merged as without a condition.
    @Test(.onEachStore) func manyRowsAreLookedAtAndMerged() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping("min_rows = 60000\nexpect = [{ sql = \"SELECT price >= 0 FROM staged.thing\" }]")
            var prices = (0..<60_000).map(String.init)
            let report = try await sync(mapping, Self.items(prices), fixture)
            #expect(report.error == nil && report.counts.inserted == 60_000, "\(report.error ?? "")")
            prices[7] = "70"
            let changed = try await sync(mapping, Self.items(prices), fixture)
            #expect(changed.counts.updated == 1 && changed.counts.unchanged == 59_999, "\(changed.error ?? "")")
        }
    }

    /// One that would never end is stopped with the run.
    @Test(.onEachStore, .timeLimit(.minutes(5))) func anEndlessConditionIsStopped() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items(["1"]))
            let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
            let service = try fixture.service(Self.expecting(endless), clock: SystemClock())
            let run = Task { try await service.sync([], mode: .force) }
            while fixture.server.requests("/a").isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            run.cancel()
            let report = try #require(try await run.value.first)
            #expect(report.outcome == .cancelled, "\(report)")
            try service.store.close()
        }
    }

    @Test(arguments: [
        ("expect = [{ message = \"m\" }]", "'sql' is missing"),
        ("expect = [{ sql = \"1\", on_failure = \"hold\" }]", "expected one of discard, block, warn, found 'hold'"),
        ("expect = \"1\"", "expected an array of tables, found a string"), ("min_rows = -1", "expected 0 or more"),
    ])
    func mistakesInTheFile(_ options: String, expected: String) async throws {
        try await EngineFixture.expectMistake(Self.mapping(options), expected)
    }

    @Test func aRequestWithoutRowsHasNoExpectation() async throws {
        try await EngineFixture.expectMistake(
            "[[sources.s.requests]]\nurl = \"URL/a\"\ncapture = { t = \"/a/b\" }\nmin_rows = 1\n",
            "min_rows: has no effect on a request that stages no rows")
    }
}
