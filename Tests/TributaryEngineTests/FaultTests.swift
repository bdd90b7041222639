import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine
import TributaryStores

/// Whatever goes wrong, the store's rows are byte for byte what they were, and a run says why.
@Suite struct FaultTests {
    /// Rows and validators of a good run, so that there is something to lose.
    private func prepare(_ fixture: EngineFixture) async throws -> [String] {
        fixture.server.document("/good", EngineFixture.items(["1", "2"]), etag: "\"good\"")
        let reports = try await fixture.sync(EngineFixture.request("/good", "sync = \"mirror\""))
        #expect(reports.map(\.outcome) == [.committed])
        return try fixture.dump()
    }

    private func expectDiscarded(_ reports: [RunReport], _ fault: Fault, _ fixture: EngineFixture, _ before: [String])
        throws
    {
        let report = try #require(reports.first)
        #expect(report.outcome == .discarded)
        let says = StoreKind.by(sqlite: fault.says, postgres: fault.saysInPostgres ?? fault.says)
        #expect(report.error?.contains(says) == true, "\(report.error ?? "no error")")
        let after = try fixture.dump()
        #expect(after == before)
        let run = try fixture.rows("SELECT outcome, error FROM tributary_run ORDER BY id DESC LIMIT 1")
        #expect(run == ["discarded|\(report.error ?? "")"])
        let due = try fixture.rows("SELECT failures, next_due > last_run FROM tributary_source")
        #expect(due == ["1|1"])
        // The lock by which processes tell whose folders lie there stays.
        #expect(try files(in: fixture.store.workFolder).allSatisfy { $0 == ".lock" })
    }

    @Test(arguments: Fault.all)
    func aRequestThatFails(fault: Fault) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let before = try await prepare(fixture)
            fixture.server.route("/fault", fault.answer)
            let source = "[[sources.s.requests]]\nurl = \"URL/fault\"\nparser = \"\(fault.parser)\"\n\(fault.options)\n"
            try expectDiscarded(try await fixture.sync(source), fault, fixture, before)
            // Its validators were not touched either: the good document is still known.
            let again = try await fixture.sync(EngineFixture.request("/good", "sync = \"mirror\""))
            #expect(again.first?.outcome == .unchanged)
        }
    }

    @Test(.onEachStore, arguments: Fault.all)
    func theSecondOfThreeAfterManyRows(fault: Fault) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let before = try await prepare(fixture)
            let isCommitFault = ["foreign", "NOT NULL", "key"].contains { fault.name.contains($0) }
            // Before a commit, rows are staged alike for every store.
            let count = StoreKind.by(sqlite: 100_000, postgres: isCommitFault ? 100_000 : 1_000)
            fixture.server.document("/bulk", "<bulk count='\(count)'/>")
            fixture.server.route("/fault", fault.answer)
            let source = """
                [[sources.s.requests]]
                url = "URL/bulk"
                parser = "BulkParser"
                [[sources.s.requests]]
                url = "URL/fault"
                parser = "\(fault.parser)"
                \(fault.options)
                [[sources.s.requests]]
                url = "URL/good"
                parser = "ItemsParser"
                """
            let reports = try await fixture.sync(source)
            try expectDiscarded(reports, fault, fixture, before)
            if !isCommitFault { #expect(reports[0].requests.map(\.outcome) == [.parsed, .failed, .skipped]) }
        }
    }

    @Test func connectionRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let before = try await prepare(fixture)
            let gone = try StubServer()
            gone.stop()
            let source = "[[sources.s.requests]]\nurl = \"\(gone.url)/\"\nparser = \"ItemsParser\"\n"
            let fault = Fault(name: "refused", says: "refused", answer: { _ in [] })
            try expectDiscarded(try await fixture.sync(source), fault, fixture, before)
        }
    }

    /// The error names the server that did not answer.
    @Test func anotherServerThanThatOfTheRequest() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let gone = try StubServer()
            gone.stop()
            fixture.server.route("/moved") { _ in [StubServer.head(302, ["Location": "\(gone.url)/a?secret=x"])] }
            let redirected = try await fixture.sync(EngineFixture.request("/moved")).first?.error
            let start = "GET \(fixture.server.url)/moved, redirected to \(gone.url): connection refused"
            #expect(redirected?.contains(start) == true, "\(redirected ?? "")")
            let oauth2 =
                "auth = { oauth2 = { token_url = \"\(gone.url)/token\", client_id = \"a\", client_secret = \"${S}\" } }"
            let reports = try await fixture.sync(EngineFixture.request("/a", oauth2), environment: ["S": "secret"])
            let expected = "the token server \(gone.url)/token: connection refused"
            #expect(reports.first?.error?.contains(expected) == true, "\(reports)")
        }
    }

    @Test func aDocumentCutAtEveryByte() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let before = try await prepare(fixture)
            let document = Array("<?xml version='1.0'?><items><item id='7'><name>&amp;é</name></item></items>".utf8)
            for end in 0..<document.count {
                fixture.server.route("/cut") { _ in StubServer.response(200, Array(document[..<end])) }
                let reports = try await fixture.sync(EngineFixture.request("/cut"))
                #expect(reports.first?.outcome == .discarded, "cut at byte \(end)")
            }
            #expect(try fixture.dump() == before)
            fixture.server.route("/cut") { _ in StubServer.response(200, document) }
            #expect(try await fixture.sync(EngineFixture.request("/cut")).first?.outcome == .committed)
        }
    }

    /// A limit of SQLite's own stands in for a disk.
    @Test(.onEachStore) func theStoresDiskIsFull() async throws {
        guard StoreKind.current == .sqlite else { return }
        try await EngineFixture.with { (fixture) async throws in
            let before = try await prepare(fixture)
            fixture.server.document("/bulk", "<bulk count='100000'/>")
            let service = try fixture.service(
                "[[sources.s.requests]]\nurl = \"URL/bulk\"\nparser = \"BulkParser\"\n", clock: SystemClock())
            let writer = try #require(service.reader as? DatabasePool)
            try await writer.writeWithoutTransaction { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                try db.execute(sql: "PRAGMA max_page_count = \(pages + 20)")
            }
            let report = try #require(try await service.sync(mode: .force).first)
            try service.store.close()
            #expect(report.outcome == .discarded)
            #expect(report.error?.contains("full") == true, "\(report.error ?? "")")
            #expect(try fixture.dump() == before)
            #expect(try fixture.rows("SELECT outcome FROM tributary_run ORDER BY id") == ["committed", "discarded"])
            #expect(try fixture.rows("PRAGMA integrity_check") == ["ok"])
        }
    }

    @Test(.onEachStore) func secretsAreInNoError() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/secret") { _ in
                [StubServer.head(302, ["Location": "/login?token=hunter22", "Content-Length": "0"])]
            }
            fixture.server.route("/login") { _ in StubServer.response(403, "") }
            let source = "[[sources.s.requests]]\nurl = \"URL/secret?token=${TOKEN}\"\nparser = \"ItemsParser\"\n"
            let reports = try await fixture.sync(source, environment: ["TOKEN": "hunter22"])
            let error = try #require(reports.first?.error)
            #expect(error.contains("${TOKEN}") && !error.contains("hunter22"))
            let bytes =
                switch StoreKind.current {
                case .sqlite:
                    try ["", "-wal"].map { fixture.storePath + $0 }
                        .filter { FileManager.default.fileExists(atPath: $0) }
                        .map { try Data(contentsOf: URL(fileURLWithPath: $0)) }.reduce(Data(), +)
                case .postgres:
                    try Data(
                        ["run", "request", "source", "change", "host"].flatMap {
                            try fixture.rows("SELECT t::text FROM tributary_\($0) t")
                        }.joined().utf8)
                }
            #expect(!bytes.isEmpty && bytes.range(of: Data("hunter22".utf8)) == nil)
        }
    }
}
