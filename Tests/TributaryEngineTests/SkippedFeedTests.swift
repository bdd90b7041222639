import FeedModel
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Feeds of which every record is skipped.
@Suite struct SkippedFeedTests {
    private static func source(_ options: String) -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        \(options)
        [[sources.s.requests.tables]]
        table = "row"
        element = "row"
        key = ["id"]
        where = "state = 'on'"
        columns = { id = { path = "@id", type = "integer", on_error = "skip" }, state = "@state" }

        """
    }

    private func sync(_ fixture: EngineFixture, _ source: String) async throws -> RunReport {
        try #require(try await fixture.sync(source).first)
    }

    private static func rows(_ rows: [(id: String, state: String)]) -> String {
        "<rows>" + rows.map { "<row id='\($0.id)' state='\($0.state)'/>" }.joined() + "</rows>"
    }

    @Test(.onEachStore) func aMirrorWhoseWhereExcludesEveryRecordDeletesNothing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source("sync = \"mirror\"")
            fixture.server.document("/a", Self.rows([("1", "on"), ("2", "off")]))
            #expect(try await sync(fixture, source).outcome == .committed)
            fixture.server.document("/a", Self.rows([("1", "off")]))
            let report = try await sync(fixture, source)
            #expect(report.outcome == .discarded)
            #expect(report.error?.contains("'where' excludes all of 1 records") == true, "\(report)")
            #expect(try fixture.rows("SELECT id FROM row") == ["1"])
            let allowed = try await sync(fixture, Self.source("sync = \"mirror\"\nallow_empty = true"))
            #expect(allowed.outcome == .committed && allowed.counts.deleted == 1, "\(allowed)")
        }
    }

    @Test func anUpsertMayExcludeEveryRecord() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.rows([("1", "off")]))
            #expect(try await sync(fixture, Self.source("")).error == nil)
        }
    }

    @Test(.onEachStore, arguments: ["", "sync = \"mirror\""])
    func aFeedWithoutASingleValidRecordIsDiscarded(options: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.rows([("x", "on"), ("y", "on")]))
            let report = try await sync(fixture, Self.source(options))
            #expect(report.outcome == .discarded)
            #expect(report.error?.contains("all of 2 records were skipped (on_error)") == true, "\(report)")
            // One valid record is enough.
            fixture.server.document("/a", Self.rows([("x", "on"), ("2", "on")]))
            #expect(try await sync(fixture, Self.source(options)).outcome == .committed)
            #expect(try fixture.rows("SELECT id FROM row") == ["2"])
        }
    }
}
