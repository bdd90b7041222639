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

/// Commits that would delete or change more rows than `max_deleted` and `max_changed` allow.
@Suite struct FuseTests {
    private static func mapping(_ options: String = "", path: String = "/a", tableOptions: String = "") -> String {
        """
        [[sources.s.requests]]
        url = "URL\(path)"
        sync = "mirror"
        \(options)
        [[sources.s.requests.tables]]
        table = "thing"
        element = "item"
        key = ["id"]
        columns = { id = "@id", name = "name" }
        \(tableOptions)

        """
    }

    private static func items(_ ids: Range<Int>, name: String = "n") -> String {
        EngineFixture.items(ids.map(String.init), name: name)
    }

    /// Commits the items from 0 to 199, and then expects that a document is blocked, and leaves nothing.
    private func expectHeld(
        _ document: String, mapping: String = mapping(), _ expected: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items(0..<200))
            try await fixture.sync(mapping)
            let before = try fixture.dump()
            fixture.server.document("/a", document)
            let report = try #require(try await fixture.sync(mapping).first)
            #expect(report.outcome == .blocked, sourceLocation: sourceLocation)
            let error = report.error ?? ""
            #expect(error.contains(expected) && error.contains("tributary accept s"), sourceLocation: sourceLocation)
            #expect(try fixture.dump() == before, sourceLocation: sourceLocation)
            #expect(try fixture.rows("SELECT blocked FROM tributary_source") == ["1"], sourceLocation: sourceLocation)
            let configuration = try fixture.configuration(mapping)
            let store = try #require(try configuration.openExistingStore())
            defer { try? store.close() }
            let status = try StoreStatus(configuration, in: store, isDaemonRunning: false, now: .now).sources[0]
            #expect(status.wait?.text.hasPrefix("blocked; next attempt") == true, sourceLocation: sourceLocation)
        }
    }

    @Test(.onEachStore) func halfAListIsHeldBack() async throws {
        try await expectHeld(
            Self.items(0..<90),
            "would delete 110 of the 200 rows of table 'thing', which is more than max_deleted = 50%")
    }

    @Test(.onEachStore) func renumberedItemsAreHeldBack() async throws {
        try await expectHeld(Self.items(1000..<1200), "would delete 200 of the 200 rows")
    }

    @Test func limitsAreNumbersOrParts() async throws {
        try await expectHeld(Self.items(0..<197), mapping: Self.mapping("max_deleted = 2"), "delete 3 of the 200 rows")
        try await expectHeld(
            Self.items(0..<190), mapping: Self.mapping("max_deleted = 2", tableOptions: "max_deleted = \"2.5%\""),
            "delete 10 of the 200 rows of table 'thing', which is more than max_deleted = 2.5%")
        try await expectHeld(
            Self.items(0..<200, name: "0"), mapping: Self.mapping("max_changed = \"50%\""),
            "would update 200 of the 200 rows of table 'thing', which is more than max_changed = 50%")
    }

    @Test func whatTheLimitsAllowIsCommitted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func sync(_ items: Range<Int>, _ options: String = "", name: String = "n") async throws -> MergeCounts? {
                fixture.server.document("/a", Self.items(items, name: name))
                let report = try await fixture.sync(Self.mapping(options)).first
                #expect(report?.error == nil)
                return report?.counts
            }
            #expect(try await sync(0..<200)?.inserted == 200)
            #expect(try await sync(0..<100)?.deleted == 100)
            // A hundred rows are few.
            #expect(try await sync(0..<1)?.deleted == 99)
            #expect(try await sync(0..<300)?.inserted == 299)
            #expect(try await sync(0..<300, name: "other")?.updated == 300)
            #expect(try await sync(0..<9, "max_deleted = \"100%\"", name: "other")?.deleted == 291)
            #expect(try await sync(0..<300, name: "other")?.inserted == 291)
            #expect(try await sync(0..<0, "allow_empty = true")?.deleted == 300)
        }
    }

    /// `allow_empty` lifts the default limit, for a feed without a record, and no other.
    @Test(arguments: [
        ("allow_empty = true\nmax_deleted = \"10%\"", "", 0), ("allow_empty = true", "max_deleted = \"10%\"", 0),
        ("allow_empty = true\nmax_deleted = 5", "deleted_when = \"id = '0'\"", 1),
        ("allow_empty = true", "where = \"id <> '0'\"", 1),
        ("allow_empty = true", "deleted_when = \"id = '0'\"", 1),
    ])
    func anEmptyFeedObeysADeclaredLimit(options: String, tableOptions: String, rows: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items(0..<200))
            try await fixture.sync(Self.mapping())
            fixture.server.document("/a", Self.items(0..<rows))
            let report = try #require(
                try await fixture.sync(Self.mapping(options, tableOptions: tableOptions)).first)
            #expect(report.outcome == .blocked, "\(report)")
            #expect(report.error?.contains("of the 200 rows of table 'thing'") == true, "\(report.error ?? "")")
        }
    }

    /// All parents are there, and none of their children.
    @Test(.onEachStore) func aChildTableIsNotEmptiedByAllowEmpty() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping =
                Self.mapping("allow_empty = true") + """
                    [[sources.s.requests.tables]]
                    table = "part"
                    element = "part"
                    key = ["thing"]
                    columns = { thing = { parent = "thing" } }

                    """
            let document = Self.items(0..<200)
            fixture.server.document("/a", document.replacing("</item>", with: "<part/></item>"))
            #expect(try await fixture.sync(mapping).first?.counts.inserted == 400)
            fixture.server.document("/a", document)
            let report = try #require(try await fixture.sync(mapping).first)
            #expect(report.outcome == .blocked, "\(report)")
            #expect(report.error?.contains("delete 200 of the 200 rows of table 'part'") == true)
        }
    }

    @Test(.onEachStore) func eachScopeIsLookedAt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let two =
                Self.mapping("scope = { shop = \"a\" }", path: "/a")
                + Self.mapping("scope = { shop = \"b\" }", path: "/b")
            fixture.server.document("/a", Self.items(0..<1000))
            fixture.server.document("/b", Self.items(1000..<1150))
            try await fixture.sync(two)
            let before = try fixture.dump()
            fixture.server.document("/a", Self.items(0..<999))
            fixture.server.document("/b", Self.items(1000..<1010))
            // The stack is one: nothing of the first request is committed either.
            let report = try await fixture.sync(two).first
            let error = report?.error ?? ""
            #expect(error.contains("delete 140 of the 150 rows of table 'thing' with shop = 'b'"), "\(error)")
            #expect(try fixture.dump() == before)
            // All that an acceptance would let through is told.
            fixture.server.document("/a", Self.items(0..<9))
            let both = try await fixture.sync(two).first?.error ?? ""
            #expect(
                both.contains("delete 991 of the 1000 rows of table 'thing' with shop = 'a'")
                    && both.contains("allows, and delete 140 of the 150 rows"), "\(both)")
        }
    }

    @Test(.onEachStore) func anUpsertIsMeasuredByAllRowsOfItsScope() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping("max_changed = \"50%\"").replacing("mirror", with: "upsert")
            fixture.server.document("/a", Self.items(0..<200))
            try await fixture.sync(mapping)
            fixture.server.document("/a", Self.items(0..<90, name: "new"))
            #expect(try await fixture.sync(mapping).first?.counts.updated == 90)
            fixture.server.document("/a", Self.items(0..<110, name: "newer"))
            let report = try await fixture.sync(mapping).first
            #expect(report?.error?.contains("would update 110 of the 200 rows") == true)
        }
    }

    @Test func aPlanTellsWhatWouldBeHeldBack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items(0..<200))
            try await fixture.sync(Self.mapping())
            fixture.server.document("/a", Self.items(0..<9))
            let service = try fixture.service(Self.mapping(), clock: SystemClock())
            let source = try #require(try fixture.configuration(Self.mapping())[source: "s"])
            let plan = try await service.plan(source, bodies: [:], ignoresValidators: true) { _ in }
            #expect(plan.blocked?.contains("would delete 191 of the 200 rows") == true)
            #expect(plan.counts.deleted == 191 && plan.counts.unchanged == 9)
            try service.store.close()
        }
    }

    @Test func mistakesInLimitsAreReported() async throws {
        for (value, expected) in [
            ("\"half\"", "expected a number, or a percentage from \"0%\" to \"100%\", found 'half'"),
            ("\"101%\"", "found '101%'"), ("-1", "found '-1'"), ("true", "a number, or a part such as \"50%\""),
        ] {
            try await EngineFixture.expectMistake(Self.mapping("max_deleted = \(value)"), expected)
        }
    }
}
