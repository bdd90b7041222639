import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Values on their way out: in events, in `tail` and `changes`.
@Suite(.onEachStore) struct StoredValueTests {
    private static let sources = """
        [sources.s]
        keep_history = true
        [[sources.s.requests]]
        url = "URL/a"
        [[sources.s.requests.tables]]
        table = "thing"
        element = "item"
        key = ["id"]
        columns = { id = { path = "@id", type = "real" }, name = "@name" }
        """

    private func withRun(
        _ fixture: EngineFixture, _ items: String,
        _ body: (any MainStore, ChangelogRun) throws -> Void
    ) async throws {
        fixture.server.document("/a", "<items>\(items)</items>")
        #expect(try await fixture.sync(Self.sources).first?.error == nil)
        let store = try #require(try fixture.configuration(Self.sources).openExistingStore())
        defer { try? store.close() }
        let numbers = try fixture.rows("SELECT max(id) FROM tributary_run").compactMap(Int64.init)
        try body(store, try #require(try store.read { try $0.changelog.run(numbers.first ?? 0) }))
    }

    /// JSON has no such number, and an event that cannot be written would stop a hook for ever.
    @Test func infiniteKeys() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withRun(fixture, "<item id='INF' name='a'/><item id='-INF' name='b'/>") { store, run in
                let changes = try store.read { try $0.changelog.changes(of: run, after: 0, limit: 9) }
                #expect(changes.count == 2)
                let lines = try changes.map { try JSONOutput.line($0) }.joined()
                #expect(lines.contains("\"key\":\"Infinity\"") && lines.contains("\"key\":\"-Infinity\""), "\(lines)")
                try store.changes(ChangeQuery(run: run.position.run)) { change in
                    let line = try JSONOutput.line(ChangeRecord(change))
                    #expect(line.contains("\"id\":\"Infinity\"") || line.contains("\"id\":\"-Infinity\""))
                }
            }
        }
    }

    /// Texts that Unicode holds for equivalent are two texts to a database, and show what tells them apart.
    @Test func equivalentTexts() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withRun(fixture, "<item id='1' name='caf\u{E9}'/>") { _, _ in }
            try await withRun(fixture, "<item id='1' name='cafe\u{301}'/>") { store, run in
                #expect(run.report.counts.updated == 1)
                var shown: [String] = []
                try store.changes(ChangeQuery(run: run.position.run)) { change in
                    for (old, new) in zip(change.old ?? [], change.new ?? []) where old.value != new.value {
                        shown.append("\(old.value.spelt(beside: new.value)) \(new.value.spelt(beside: old.value))")
                    }
                }
                #expect(shown == [#""caf\\u{E9}" "cafe\\u{301}""#])
            }
        }
    }
}
