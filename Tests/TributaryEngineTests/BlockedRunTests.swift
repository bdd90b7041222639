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

/// Blocked runs, and what becomes of their documents: whether or not bodies are kept besides.
@Suite struct BlockedRunTests {
    /// `keep_bodies` absent, and given.
    static let mappings = [KeptBodyTests.mapping(""), KeptBodyTests.mapping()]

    static func accept(
        _ fixture: EngineFixture, _ mapping: String = mappings[0], inAdvance: Bool = false, at now: Date = Date()
    ) throws {
        let store = try #require(try fixture.configuration(mapping).openExistingStore(isWritten: true))
        defer { try? store.close() }
        _ = try store.accept(["s"], inAdvance: inAdvance, at: now)
    }

    private static func blockedRun(_ fixture: EngineFixture, _ mapping: String) throws -> RunReport {
        let store = try #require(try fixture.configuration(mapping).openExistingStore(isWritten: true))
        defer { try? store.close() }
        return try #require(try store.read { try $0.runs.blocked(of: "s") })
    }

    private static func serve(_ items: Range<Int>, etag: String, _ fixture: EngineFixture) {
        fixture.server.document("/a", EngineFixture.items(items.map(String.init)), etag: "\"\(etag)\"")
    }

    private static func expectNoFiles(_ fixture: EngineFixture, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        #expect(try KeptBodyTests.files(fixture).isEmpty, sourceLocation: sourceLocation)
        #expect(try fixture.rows("SELECT count(*) FROM tributary_acceptance") == ["0"], sourceLocation: sourceLocation)
        #expect(try fixture.rows("SELECT blocked FROM tributary_source") == ["0"], sourceLocation: sourceLocation)
        let work = (try? FileManager.default.contentsOfDirectory(atPath: fixture.store.workFolder)) ?? []
        #expect(!work.contains { $0.hasSuffix(".body") }, "\(work)", sourceLocation: sourceLocation)
    }

    @Test(.onEachStore) func aReplayIsBlockedLikeASync() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items((0..<200).map(String.init)))
            try await fixture.sync(KeptBodyTests.mapping())
            let before = try fixture.dump()
            let narrowed = KeptBodyTests.mapping().replacing("\"item\"", with: "\"item[@id='7']\"")
            var report = try await fixture.replay(narrowed)
            #expect(report.error?.contains("would delete 199 of the 200 rows") == true)
            #expect(report.error?.contains("`tributary accept --in-advance s`, and replay again") == true)
            #expect(try fixture.dump() == before)
            // No run of the source itself is blocked by that.
            #expect(throws: Refusal.self) { try Self.accept(fixture, narrowed) }
            try Self.accept(fixture, narrowed, inAdvance: true)
            report = try await fixture.replay(narrowed)
            #expect(report.error == nil && report.counts.deleted == 199)
            #expect(try fixture.rows("SELECT count(*) FROM tributary_acceptance") == ["0"])
        }
    }

    @Test(.onEachStore, arguments: mappings) func theDocumentsOfTheBlockedRunAreCommitted(_ mapping: String)
        async throws
    {
        try await EngineFixture.with { (fixture) async throws in
            Self.serve(0..<400, etag: "1", fixture)
            try await fixture.sync(mapping)
            Self.serve(0..<40, etag: "2", fixture)
            let blocked = try #require(try await fixture.sync(mapping).first)
            #expect(blocked.outcome == .blocked && blocked.error?.contains("delete 360 of the 400 rows") == true)
            #expect(blocked.error?.contains("`tributary accept s` lets the next run commit them") == true)
            // What the server has now is worse.
            Self.serve(0..<10, etag: "3", fixture)
            try Self.accept(fixture, mapping)
            // It need not be due, as nothing is sent.
            let accepted = try #require(try await fixture.sync(mapping, mode: .whenDue).first)
            #expect(accepted.error == nil && accepted.counts.deleted == 360 && accepted.kind == nil)
            #expect(fixture.server.requests("/a").count == 2)
            #expect(try fixture.rows("SELECT etag FROM tributary_request") == ["\"2\""])
            #expect(try fixture.rows("SELECT count(*) FROM tributary_acceptance") == ["0"])
            #expect(try KeptBodyTests.files(fixture) == Set(KeptBodyTests.names(fixture)).subtracting(["NULL"]))
            // It is used up: what comes next is asked for with the accepted validators, and blocked, where it must be.
            #expect(try await fixture.sync(mapping, mode: .whenDue).first?.outcome == .notDue)
            #expect(
                try await fixture.sync(mapping.replacing("sync =", with: "max_deleted = 29\nsync =")).first?.outcome
                    == .blocked)
            #expect(fixture.server.requests("/a").last?.headers["if-none-match"] == "\"2\"")
        }
    }

    @Test func anAcceptanceThatIsNotNeededDoesNotStay() async throws {
        let mapping = Self.mappings[0].replacing("sync =", with: "max_deleted = \"10%\"\nsync =")
        for mended in [0..<199, 0..<200] {
            try await EngineFixture.with { (fixture) async throws in
                Self.serve(0..<200, etag: "1", fixture)
                try await fixture.sync(mapping)
                Self.serve(0..<50, etag: "2", fixture)
                #expect(try await fixture.sync(mapping).first?.outcome == .blocked)
                // The publisher mends the feed, and the source is run before anybody accepts.
                Self.serve(mended, etag: mended.count == 200 ? "1" : "3", fixture)
                let outcome = try await fixture.sync(mapping).first?.outcome
                #expect(outcome == (mended.count == 200 ? .unchanged : .committed))
                try Self.expectNoFiles(fixture)
                #expect(throws: Refusal.self) { try Self.accept(fixture, mapping) }
                Self.serve(0..<5, etag: "4", fixture)
                #expect(try await fixture.sync(mapping).first?.outcome == .blocked)
            }
        }
    }

    /// Documents that are gone, and a declaration that is another: nothing else is committed in their place.
    @Test func whatCannotBeCommittedAnyMoreIsNotReplaced() async throws {
        try await EngineFixture.with { (fixture) async throws in
            var mapping = Self.mappings[0]
            Self.serve(0..<200, etag: "1", fixture)
            try await fixture.sync(mapping)
            Self.serve(0..<9, etag: "2", fixture)
            try await fixture.sync(mapping)
            let folder = try fixture.configuration(mapping).bodyFolder + "/s"
            for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".gz") {
                try FileManager.default.removeItem(atPath: folder + "/" + file)
            }
            try Self.accept(fixture)
            Self.serve(0..<8, etag: "3", fixture)
            var error = try await fixture.sync(mapping).first?.error ?? ""
            #expect(error.contains("delete 192 of the 200 rows"), "\(error)")
            #expect(error.contains(" was accepted, and its documents are no longer kept in "), "\(error)")
            #expect(try fixture.rows("SELECT count(*) FROM tributary_acceptance") == ["0"])
            try Self.accept(fixture)
            mapping = mapping.replacing("name = \"name\"", with: "name = \"@id\"")
            error = try await fixture.sync(mapping).first?.error ?? ""
            #expect(error.contains(" was accepted, and the source has a changed declaration since"), "\(error)")
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["200"])
            try Self.accept(fixture, mapping)
            #expect(try await fixture.sync(mapping).first?.counts.deleted == 192)
            try Self.expectNoFiles(fixture)
        }
    }

    @Test(.onEachStore) func aBlockedRunShowsItsChangesTheLargestFirst() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mappings[0]
            Self.serve(0..<200, etag: "1", fixture)
            try await fixture.sync(mapping)
            Self.serve(150..<202, etag: "2", fixture)
            try await fixture.sync(mapping)
            let run = try Self.blockedRun(fixture, mapping)
            let review = try #require(try fixture.configuration(mapping).review(of: run))
            #expect(review.tables.map(\.table) == ["thing"] && review.omitted == 0)
            #expect(review.total == MergeCounts(inserted: 2, deleted: 150, unchanged: 50))
            #expect(review.rows.count == 152 && review.rows.first?.operation == .delete)
            #expect(review.rows.last?.operation == .insert)
            #expect(try fixture.configuration(mapping).blockedCounts(of: run) == review.total)
        }
    }

    /// No more rows than were accepted, but others.
    @Test(.onEachStore) func otherRowsThanWereShownAreBlockedAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mappings[0]
            Self.serve(0..<200, etag: "1", fixture)
            try await fixture.sync(mapping)
            Self.serve(0..<50, etag: "2", fixture)
            try await fixture.sync(mapping)
            try fixture.store.execute("UPDATE thing SET id = 'mine' WHERE id = '199'")
            try Self.accept(fixture)
            let error = try await fixture.sync(mapping).first?.error ?? ""
            #expect(error.contains("not what was accepted, as the rows in the store have changed since"), "\(error)")
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["200"])
            let run = try Self.blockedRun(fixture, mapping)
            let review = try #require(try fixture.configuration(mapping).review(of: run))
            #expect(review.rows.contains { row in row.key.contains { $0.value == .text("mine") } })
            try Self.accept(fixture)
            #expect(try await fixture.sync(mapping).first?.counts.deleted == 150)
            try Self.expectNoFiles(fixture)
        }
    }

    /// The commit takes deleted records out of the staged rows, which are in a scratch file because of the reference. The
    /// review then merges the same rows.
    @Test(.onEachStore) func theReviewOfDeletedRecordsIsWhatIsCommitted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = """
                [[sources.s.requests]]
                url = "URL/a"
                sync = "mirror"
                max_deleted = 0
                [[sources.s.requests.tables]]
                table = "firm"
                element = "firm"
                key = ["id"]
                columns = { id = "@id", name = "@name" }
                [[sources.s.requests.tables]]
                table = "thing"
                element = "thing"
                key = ["id"]
                deleted_when = "gone = '1'"
                [sources.s.requests.tables.columns]
                id = "@id"
                gone = { path = "@gone", stored = false }
                firm = { path = "@firm", references = "firm(name)", missing = "null" }

                """
            let others = "<firm id='1' name='F'/><thing id='2' firm='F'/>"
            fixture.server.document("/a", "<all><thing id='1' firm='F'/>\(others)</all>")
            try await fixture.sync(mapping)
            fixture.server.document("/a", "<all><thing id='1' gone='1'/>\(others)</all>")
            #expect(try await fixture.sync(mapping).first?.outcome == .blocked)
            let run = try Self.blockedRun(fixture, mapping)
            let review = try #require(try fixture.configuration(mapping).review(of: run))
            #expect(review.total == MergeCounts(deleted: 1, unchanged: 2), "\(review)")
            try Self.accept(fixture, mapping)
            let accepted = try #require(try await fixture.sync(mapping).first)
            #expect(accepted.error == nil && accepted.counts.deleted == 1, "\(accepted)")
            #expect(try fixture.rows("SELECT id FROM thing") == ["2"])
        }
    }

    /// To accept such a run would not help. The limit is exceeded, too.
    @Test(.onEachStore) func aBrokenForeignKeyDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = """
                [[sources.s.requests]]
                url = "URL/a"
                sync = "mirror"
                max_deleted = 0
                [[sources.s.requests.tables]]
                table = "firm"
                element = "firm"
                key = ["id"]
                columns = { id = "@id", name = "@name" }
                [[sources.s.requests.tables]]
                table = "thing"
                element = "thing"
                key = ["id"]
                sync = "upsert"
                columns = { id = "@id", firm = { path = "@firm", references = "firm(name)", missing = "null" } }

                """
            let other = "<firm id='2' name='G'/>"
            fixture.server.document("/a", "<all><firm id='1' name='F'/>\(other)<thing id='1' firm='F'/></all>")
            #expect(try await fixture.sync(mapping).first?.counts.inserted == 3)
            fixture.server.document("/a", "<all>\(other)<thing id='2' firm='G'/></all>")
            let report = try #require(try await fixture.sync(mapping).first)
            #expect(report.outcome == .discarded, "\(report)")
            #expect(report.error?.contains("table 'thing': ") == true, "\(report)")
            #expect(report.error?.contains("foreign key") == true, "\(report)")
            #expect(report.error?.contains("would delete") == false, "\(report)")
            #expect(try fixture.rows("SELECT id FROM firm ORDER BY id") == ["1", "2"])
        }
    }

    @Test(.onEachStore) func moreThanWasShownIsBlockedAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mappings[0]
            Self.serve(0..<200, etag: "1", fixture)
            try await fixture.sync(mapping)
            Self.serve(0..<50, etag: "2", fixture)
            try await fixture.sync(mapping)
            try fixture.store.execute("INSERT INTO thing (id, name) VALUES ('mine', 'n')")
            try Self.accept(fixture)
            let error = try await fixture.sync(mapping).first?.error ?? ""
            #expect(error.contains("delete 151 of the 201 rows"), "\(error)")
            #expect(
                error.contains("not what was accepted, as the rows in the store have changed since"), "\(error)")
            #expect(try fixture.rows("SELECT count(*) FROM tributary_acceptance") == ["0"])
            try Self.accept(fixture)
            #expect(try await fixture.sync(mapping).first?.counts.deleted == 151)
            #expect(fixture.server.requests("/a").count == 2)
            try Self.expectNoFiles(fixture)
        }
    }

    @Test func aBlockedRunWaitsWhileLaterOnesFail() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mappings[0]
            Self.serve(0..<200, etag: "1", fixture)
            try await fixture.sync(mapping)
            Self.serve(0..<50, etag: "2", fixture)
            try await fixture.sync(mapping)
            fixture.server.document("/a", "<items>")
            #expect(try await fixture.sync(mapping).first?.outcome == .discarded)
            let note = try fixture.rows("SELECT note FROM tributary_source").first ?? ""
            #expect(note.contains("an earlier run is blocked, and waits for `tributary accept s`"), "\(note)")
            try Self.accept(fixture)
            let configuration = try fixture.configuration(mapping)
            let store = try #require(try configuration.openExistingStore())
            let shown = try StoreStatus(configuration, in: store, isDaemonRunning: false, now: Date()).sources[0]
            try store.close()
            #expect(shown.acceptance?.run == 2 && shown.condition == .blocked)
            let said = shown.state.note ?? ""
            #expect(said.hasPrefix("the documents of run 2 are accepted, and the next run commits"), "\(said)")
            #expect(!said.contains("tributary accept"), "\(said)")
            #expect(try await fixture.sync(mapping).first?.counts.deleted == 150)
            try Self.expectNoFiles(fixture)
            // A newer blocked run takes its place.
            Self.serve(0..<200, etag: "3", fixture)
            try await fixture.sync(mapping)
            Self.serve(0..<8, etag: "4", fixture)
            try await fixture.sync(mapping)
            Self.serve(0..<7, etag: "5", fixture)
            try await fixture.sync(mapping)
            #expect(try KeptBodyTests.files(fixture).count == 3)  // The body, what the run was, and its changes.
            try Self.accept(fixture)
            #expect(try await fixture.sync(mapping).first?.counts.deleted == 193)
        }
    }

    /// What is accepted while the source is fetched once more counts if that brings the same documents, and only then.
    @Test(arguments: [true, false]) func anAcceptanceIsForTheSameDocuments(_ areSame: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mappings[0]
            Self.serve(0..<200, etag: "1", fixture)
            try await fixture.sync(mapping)
            Self.serve(0..<50, etag: "2", fixture)
            try await fixture.sync(mapping)
            let items = EngineFixture.items((0..<(areSame ? 50 : 49)).map(String.init))
            fixture.server.route("/a") { _ in
                // The run has begun, without the permission.
                try? Self.accept(fixture)
                return StubServer.response(200, items, ["ETag": "\"3\""])
            }
            #expect(try await fixture.sync(mapping).first?.outcome == .blocked)
            let last = try fixture.rows("SELECT max(id) FROM tributary_run")
            #expect(try fixture.rows("SELECT run FROM tributary_acceptance") == (areSame ? last : []))
            let next = try await fixture.sync(mapping).first
            #expect(next?.counts.deleted == (areSame ? 150 : 0))
        }
    }

    @Test func requestsThatWereUnchangedStaySo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let two = KeptBodyTests.mapping() + KeptBodyTests.mapping("", path: "/b").replacing("thing", with: "other")
            fixture.server.document("/a", EngineFixture.items((0..<200).map(String.init)), etag: "\"1\"")
            fixture.server.document("/b", EngineFixture.items(["1"]), etag: "\"1\"")
            try await fixture.sync(two)
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"2\"")
            #expect(try await fixture.sync(two).first?.outcome == .blocked)
            try Self.accept(fixture, two)
            let report = try await fixture.sync(two).first
            #expect(report?.requests.map(\.outcome) == [.parsed, .unchanged] && report?.error == nil)
            #expect(fixture.server.requests().count == 4)
            #expect(try KeptBodyTests.names(fixture).count == 3)
            let again = try await fixture.sync(two).first
            #expect(again?.outcome == .unchanged)
        }
    }

    @Test func whatIsAcceptedInAdvanceIsForTheNextCommit() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mappings[0]
            func sync(_ items: Range<Int>, etag: String? = nil) async throws -> RunOutcome? {
                Self.serve(items, etag: etag ?? "\(items)", fixture)
                return try await fixture.sync(mapping).first?.outcome
            }
            #expect(try await sync(0..<400) == .committed)
            // It is forgotten after a day.
            try Self.accept(fixture, inAdvance: true, at: Date() - 90_000)
            #expect(try await sync(0..<150) == .blocked)
            #expect(throws: Refusal.self) { try Self.accept(fixture, inAdvance: true) }
            #expect(try await sync(0..<400) == .unchanged)
            // A run that commits nothing does not use it up.
            try Self.accept(fixture, inAdvance: true)
            #expect(try await sync(0..<400) == .unchanged)
            #expect(try await sync(0..<400, etag: "other") == .committed)
            #expect(try await sync(0..<150) == .committed)
            #expect(try await sync(0..<10) == .blocked)
            // One that needs it not does.
            #expect(try await sync(0..<149) == .committed)
            try Self.accept(fixture, inAdvance: true)
            #expect(try await sync(0..<148) == .committed)
            #expect(try await sync(0..<10) == .blocked)
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["148"])
        }
    }

    @Test(.onEachStore) func aWithdrawnPermissionCountsNoMore() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mappings[0]
            Self.serve(0..<400, etag: "1", fixture)
            try await fixture.sync(mapping)
            func withdraw(at now: Date = Date()) throws -> [String] {
                let store = try #require(try fixture.configuration(mapping).openExistingStore(isWritten: true))
                defer { try? store.close() }
                return try store.write { try $0.acceptances.withdraw(["other", "s"], at: now) }
            }
            try Self.accept(fixture, inAdvance: true)
            // One that has ended by itself is none.
            #expect(try withdraw(at: Date() + 90_000) == [])
            #expect(try withdraw() == ["s"])
            #expect(try withdraw() == [])
            Self.serve(0..<150, etag: "2", fixture)
            #expect(try await fixture.sync(mapping).first?.outcome == .blocked)
        }
    }

    /// Documents of a source that keeps none stay while another process starts, and go when the source is purged.
    @Test func aStartLeavesTheDocumentsOfBlockedRuns() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mappings[0]
            Self.serve(0..<200, etag: "1", fixture)
            try await fixture.sync(mapping)
            Self.serve(0..<50, etag: "2", fixture)
            try await fixture.sync(mapping)
            #expect(try KeptBodyTests.files(fixture).count == 3)  // The body, what the run was, and its changes.
            let other = mapping.replacing("sources.s.", with: "sources.t.").replacing("thing", with: "other")
            try await fixture.sync(mapping + other, ["t"])
            // So it is where another file declares other sources of the store.
            try await fixture.sync(other)
            #expect(try KeptBodyTests.files(fixture).count == 3)  // The body, what the run was, and its changes.
            #expect(try fixture.configuration(other).removeBodies(of: "s") == [])
            #expect(try KeptBodyTests.files(fixture).isEmpty)
        }
    }
}
