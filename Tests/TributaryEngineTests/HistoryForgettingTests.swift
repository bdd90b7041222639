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

/// History is forgotten with its run, whether its table changes again or not.
@Suite(.onEachStore) struct HistoryForgettingTests {
    private static func source(_ name: String, keepsHistory: Bool = false, type: String = "text") -> String {
        """
        [sources.\(name)]
        keep_history = \(keepsHistory)
        [[sources.\(name).requests]]
        url = "URL/\(name)"
        tables = [{ table = "thing_\(name)", element = "item", key = ["id"], columns = { id = "@id", \
        name = { path = "@name", type = "\(type)" } } }]

        """
    }

    private func sync(
        _ fixture: EngineFixture, _ sources: String, _ name: String, value: String, wait: Double = 7200
    ) async throws {
        fixture.server.document("/\(name)", "<items><item id='1' name='\(value)'/></items>")
        let report = try await fixture.sync("history = \"1h\"\n" + sources, [name], clock: fixture.clock).first
        #expect(report?.error == nil)
        fixture.clock.advance(by: wait)
    }

    /// The names of all histories with their numbers of rows.
    private func histories(_ fixture: EngineFixture) throws -> [String] {
        let names = try fixture.rows(
            StoreKind.by(
                sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1",
                postgres: """
                    SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
                    ORDER BY 1
                    """))
        return try names.filter(HistoryTable.isHistory).map { name in
            try "\(name): \(fixture.rows("SELECT count(*) FROM \(name)").joined())"
        }
    }

    /// The source ends, and another one runs on.
    @Test func tablesThatNeverChangeAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let both = Self.source("s", keepsHistory: true) + Self.source("t")
            for name in ["1", "2", "3"] {
                try await sync(fixture, both, "s", value: name, wait: name == "3" ? 7200 : 1)
            }
            #expect(try histories(fixture) == ["tributary_history_thing_s: 3"])
            // Of the runs that are old enough, the last is remembered.
            try await sync(fixture, Self.source("t"), "t", value: "1")
            #expect(try histories(fixture) == ["tributary_history_thing_s: 1"])
            try await sync(fixture, Self.source("t"), "t", value: "1")
            #expect(try histories(fixture) == ["tributary_history_thing_s: 0"])
        }
    }

    /// A history whose values do not fit the new types goes as a whole.
    @Test func historiesThatHaveEnded() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.source("s", keepsHistory: true, type: "integer")
            for name in ["1", "2"] {
                try await sync(fixture, sources, "s", value: name, wait: 1)
            }
            try fixture.store.execute("DROP TABLE thing_s")
            try await sync(fixture, Self.source("s", keepsHistory: true), "s", value: "a")
            #expect(try histories(fixture) == ["tributary_history_thing_s: 1"])
        }
    }

    /// A daemon forgets by the clock, whether anything is committed or not.
    @Test(.timeLimit(.minutes(1))) func aDaemonThatCommitsNothing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = Self.source("s", keepsHistory: true)
            for name in ["1", "2"] { try await sync(fixture, source, "s", value: name, wait: 1) }
            #expect(try histories(fixture) == ["tributary_history_thing_s: 2"])
            let unused = source.replacing("keep_history", with: "enabled = false\nkeep_history")
            let service = try fixture.service("history = \"1h\"\n" + unused, clock: fixture.clock)
            let running = Task { try await service.run() }
            while try histories(fixture) != ["tributary_history_thing_s: 1"] {
                fixture.clock.advance(by: 60)
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(try fixture.rows("SELECT count(*) FROM tributary_run") == ["1"])
            running.cancel()
            try await running.value
            try service.store.close()
        }
    }
}
