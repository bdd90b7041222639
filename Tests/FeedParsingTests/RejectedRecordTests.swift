import FeedModel
import FeedStaging
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine

/// Records that a run leaves out are kept with it.
@Suite struct RejectedRecordTests {
    private func mapping(_ options: String = "", columns: String = "") -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        \(options)
        [[sources.s.requests.tables]]
        table = "thing"
        element = "item"
        key = ["id"]
        columns.id = { path = "@id", type = "integer", on_error = "skip" }
        columns.size = { path = "@size", type = "integer", on_error = "skip" }
        \(columns)

        """
    }

    private func csv(_ dialect: String, _ options: String = "") -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        csv = { \(dialect) }
        \(options)
        [[sources.s.requests.tables]]
        table = "price"
        element = "row"
        key = ["id"]
        columns.id = { path = "id", type = "integer" }
        columns.name = "name"

        """
    }

    private func items(_ items: KeyValuePairs<String, String>) -> String {
        "<items>" + items.map { "<item id='\($0.key)' size='\($0.value)'/>" }.joined() + "</items>"
    }

    private static let kept =
        "SELECT run, source, request, \"table\", key, \"column\", record FROM tributary_rejected ORDER BY id"

    @Test(.onEachStore) func aRecordIsKeptWithItsRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", items(["1": "10", "2": "EUR 5", "x": "3"]))
            let report = try #require(try await fixture.sync(mapping()).first)
            #expect(report.error == nil && report.skipped == 2 && report.counts.inserted == 1, "\(report)")
            let run = try #require(try fixture.rows("SELECT id FROM tributary_run").first)
            #expect(
                try fixture.rows(Self.kept) == [
                    "\(run)|s|1|thing|2|size|{\"id\":\"2\",\"size\":\"EUR 5\"}",
                    "\(run)|s|1|thing|x|id|{\"id\":\"x\",\"size\":\"3\"}",
                ])
            let reasons = try fixture.rows("SELECT reason FROM tributary_rejected ORDER BY id")
            #expect(
                reasons[0].hasPrefix("line 1, <item> (id = \"2\"): column 'size' of table 'thing': \"EUR 5\" is not"))
            // The run has them in words.
            let note = try fixture.rows("SELECT rejected FROM tributary_run")
            #expect(note == ["2 records were skipped: " + reasons.joined(separator: "; ")])
            // A run without such records has none.
            fixture.server.document("/a", items(["1": "11"]))
            #expect(try await fixture.sync(mapping()).first?.error == nil)
            #expect(try fixture.rows(Self.kept).count == 2)
            #expect(try fixture.rows("SELECT rejected FROM tributary_run ORDER BY id DESC LIMIT 1") == ["NULL"])
        }
    }

    /// A discarded run leaves no trace.
    @Test(.onEachStore) func aRunOfWhichNothingIsLeftIsDiscarded() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", items(["1": "a", "2": "b"]))
            let report = try #require(try await fixture.sync(mapping()).first)
            #expect(report.outcome == .discarded)
            let error = try #require(report.error)
            #expect(
                error.contains("no record is left, as 2 records would be left out (on_error = \"skip\")"), "\(error)")
            #expect(error.contains("the first: line 1, <item> (id = \"1\"): column 'size' of table 'thing': \"a\""))
            #expect(try fixture.rows("SELECT count(*) FROM tributary_rejected") == ["0"])
        }
    }

    @Test(
        arguments: [
            ("max_skipped = 1", true), ("max_skipped = 2", false), ("max_skipped = \"49%\"", true),
            ("max_skipped = \"50%\"", false), ("max_skipped = 0", true),
        ])
    func maxSkippedLimitsThem(option: String, isDiscarded: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", items(["1": "a", "2": "b", "3": "3", "4": "4"]))
            let report = try #require(try await fixture.sync(mapping(option)).first)
            #expect(report.outcome == (isDiscarded ? .discarded : .committed), "\(report)")
            let error =
                "2 records of 4 would be left out (on_error = \"skip\"), and \(option.replacing("\"", with: "")) allows"
            #expect(report.error?.contains(error) ?? !isDiscarded, "\(report.error ?? "")")
        }
    }

    /// A run keeps a thousand, each up to 64 KiB; the counts go on.
    @Test(.onEachStore) func theirNumberAndLengthAreLimited() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let long = String(repeating: "é", count: 50_000)
            let wrong = (0..<1_200).map { "<item id='\($0)' size='x'/>" }.joined()
            fixture.server.document(
                "/a", "<items><item id='-1' size='\(long)'/>\(wrong)<item id='5000' size='1'/></items>")
            let report = try #require(try await fixture.sync(mapping()).first)
            #expect(report.error == nil && report.skipped == 1_201, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT count(*) FROM tributary_rejected") == ["1000"])
            let record = try fixture.rows("SELECT record FROM tributary_rejected ORDER BY id LIMIT 1")[0]
            #expect(record.hasPrefix("{\"id\":\"-1\",\"size\":\"éé"))
            #expect(record.utf8.count > RejectedRecords.longestRecord - 4)
            #expect(record.utf8.count <= RejectedRecords.longestRecord)
        }
    }

    @Test(.onEachStore) func secretsAndWhatIsEncryptedAreNotKept() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let secret = "token-that-nobody-sees"
            fixture.server.document(
                "/a", "<d><item id='1' size='1'/><item id='2' size='\(secret)' name='\(secret) \"' pin='4711'/></d>")
            let columns = "columns.name = \"@name\"\ncolumns.pin = { path = \"@pin\", encrypted = true }"
            let key = "encryption_key = \"\(String(repeating: "ab", count: 32))\"\n"
            let report = try #require(
                try await fixture.sync(
                    key + mapping("headers = { X-Token = \"${TOKEN}\" }", columns: columns),
                    environment: ["TOKEN": secret]
                ).first)
            #expect(report.error == nil && report.skipped == 1, "\(report.error ?? "")")
            let rows = try fixture.rows("SELECT reason, record FROM tributary_rejected")
            #expect(rows.count == 1 && !rows[0].contains(secret) && !rows[0].contains("4711"), "\(rows)")
            #expect(rows[0].contains("\"id\":\"2\""))
        }
    }

    /// A request that is sent again keeps each record once.
    @Test(.onEachStore) func aRepeatedRequestKeepsThemOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = Array(items(["1": "1", "2": "wrong"]).utf8)
            let count = Counter()
            fixture.server.route("/a") { _ in
                count.enter()
                let isCut = count.total == 1
                let head = StubServer.head(200, ["Content-Length": "\(body.count)"])
                return [head, .send(isCut ? Array(body.dropLast(4)) : body), .close]
            }
            let report = try #require(try await fixture.sync(mapping("retries = 2")).first)
            #expect(report.error == nil && count.total == 2, "\(report)")
            #expect(try fixture.rows("SELECT key FROM tributary_rejected") == ["2"])
        }
    }

    // MARK: - CSV

    @Test(.onEachStore) func malformedLinesOfCSVAreSkipped() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = "id,name\n1,\"a,b\"\n2\n3,x,y\r\n\n4,\"q\" z,\"w\"\n5,\"e\"\n6"
            fixture.server.document("/a", body, type: "text/csv")
            let report = try #require(try await fixture.sync(csv("on_error = \"skip\"")).first)
            #expect(report.error == nil && report.skipped == 4, "\(report)")
            #expect(try fixture.rows("SELECT id, name FROM price ORDER BY id") == ["1|a,b", "5|e"])
            #expect(
                try fixture.rows("SELECT record, \"table\", \"column\" FROM tributary_rejected ORDER BY id") == [
                    "2|NULL|NULL", "3,x,y|NULL|NULL", "4,\"q\" z,\"w\"|NULL|NULL", "6|NULL|NULL",
                ])
            let reasons = try fixture.rows("SELECT reason FROM tributary_rejected ORDER BY id")
            for (reason, expected) in zip(
                reasons,
                [
                    "line 3 of the CSV body: there is 1 field, not the 2 of the header",
                    "line 4 of the CSV body: there are 3",
                    "line 6 of the CSV body: a quoted field continues after its closing quote",
                    "line 8 of the CSV body",
                ])
            { #expect(reason.hasPrefix(expected), "\(reason)") }
            // Without the key, such a line discards the run as before.
            let refused = try #require(try await fixture.sync(csv("delimiter = \",\"")).first)
            #expect(refused.error?.contains("line 3 of the CSV body: there is 1 field") == true, "\(refused)")
            let limited = try await fixture.sync(csv("on_error = \"skip\"", "max_skipped = 3"), mode: .full).first
            #expect(limited?.error?.contains("max_skipped = 3") == true, "\(limited?.error ?? "")")
        }
    }

    /// The line may be any row's.
    @Test(.onEachStore) func aMirrorDeletesNothingBesideAMalformedLine() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = csv("on_error = \"skip\"", "sync = \"mirror\"")
            fixture.server.document("/a", "id,name\n1,a\n2,b\n", type: "text/csv")
            try await fixture.sync(sources)
            for body in ["id,name\n1,c\n2\n", "id,name\n2\n1,c\n"] {
                fixture.server.document("/a", body, type: "text/csv")
                let report = try #require(try await fixture.sync(sources).first)
                #expect(report.error == nil && report.skipped == 1 && report.counts.deleted == 0, "\(report)")
                #expect(report.note?.contains("no row of table 'price' was deleted") == true, "\(report.note ?? "")")
                #expect(try fixture.rows("SELECT id, name FROM price ORDER BY id") == ["1|c", "2|b"])
            }
        }
    }

    @Test func aHeaderOrAQuoteWithoutAnEndStillDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = csv("on_error = \"skip\"")
            for (body, expected) in [
                ("id,\"na\"me\n1,a\n", "continues after its closing quote"),
                ("id,name\n1,a\n2,\"b\n3,c\n", "the body ends within a quoted field"),
                ("id,name\n2\n3,x,y\n", "no record is left, as 2 records would be left out"),
            ] {
                fixture.server.document("/a", body, type: "text/csv")
                let report = try #require(try await fixture.sync(sources).first)
                #expect(report.outcome == .discarded && report.error?.contains(expected) == true, "\(report)")
            }
        }
    }

    @Test func skippedLinesNeedAMapping() async throws {
        try await EngineFixture.expectMistake(
            "[[sources.s.requests]]\nurl = \"URL/a\"\ncsv = { on_error = \"skip\" }\ncapture = { t = \"/csv/row/a\" }\n",
            "csv.on_error: \"skip\" requires a mapping (tables)")
    }

    // MARK: - What shows and deletes them

    @Test(.onEachStore) func theyAreReadInPagesAndDeletedWithTheirRuns() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for value in ["a", "b", "c"] {
                fixture.server.document("/a", items(["1": value, "2": value, "3": "3"]))
                try await fixture.sync(mapping(), mode: .force)
            }
            let store = try fixture.service(mapping(), clock: SystemClock()).store
            func records(_ run: Int64? = nil, after: Int64 = 0, limit: Int = 10) throws -> [RejectedRow] {
                try store.read { try $0.rejections.records(of: "s", run: run, after: after, limit: limit) }
            }
            let all = try records()
            #expect(all.count == 6 && all.map(\.id) == all.map(\.id).sorted())
            let first = try records(limit: 4)
            #expect(first.map(\.id) == all.prefix(4).map(\.id))
            #expect(try records(after: first[3].id).map(\.id) == all.suffix(2).map(\.id))
            #expect(try records(all[2].run).map(\.record.key) == ["1", "2"])
            #expect(try store.read { try $0.rejections.records(of: "t", limit: 10) }.isEmpty)
            // All runs but the last are old.
            while try store.forgetRuns(before: Date() + 3_600, keeping: [:]) {}
            #expect(try fixture.rows("SELECT DISTINCT run FROM tributary_rejected") == ["\(all[5].run)"])
            try store.close()
        }
    }
}
