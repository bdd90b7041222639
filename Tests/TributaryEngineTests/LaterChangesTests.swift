import FeedModel
import FeedParsing
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import PostgresStore
@testable import SQLiteStore
@testable import TributaryEngine

/// The rows of changes of which no history is kept: they are read from the table, unless something has changed them since.
@Suite(.onEachStore) struct LaterChangesTests {
    private static let sources = """
        [[sources.s.requests]]
        url = "URL/a"
        tables = [{ table = "thing", element = "item", key = ["id"], columns = { id = "@id", name = "name" } }]

        """

    private func sync(_ fixture: EngineFixture, _ ids: ClosedRange<Int>, name: String) async throws {
        fixture.server.document("/a", EngineFixture.items(ids.map { "\($0)" }, name: name))
        #expect(try await fixture.sync(Self.sources).first?.outcome == .committed)
    }

    private func passes(_ store: any MainStore) throws -> Int {
        let later = (store as? SQLiteStore)?.laterChanges ?? (store as? PostgresStore)?.laterChanges
        return try #require(later).passes
    }

    private func names(_ lines: [TailLine]) -> [String: StoredValue?] {
        lines.reduce(into: [:]) { names, line in
            guard case .change(let change) = line.content, case .text(let key) = change.key else { return }
            names[key] = .some(change.images?.after?.first { $0.column == "name" }?.value)
        }
    }

    /// Each page would read all changes that come after it.
    @Test func thePagesOfALongRunReadTheChangelogOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await sync(fixture, 1...3_000, name: "old")
            try await sync(fixture, 7...8, name: "new")
            let configuration = try fixture.configuration(Self.sources)
            let store = try #require(try configuration.openExistingStore())
            defer { try? store.close() }
            var reader = ChangelogReader(
                store, sources: [], after: nil, images: .init(.values, configuration, EngineFixture.registry))
            var pages = 0
            var known: [String: StoredValue?] = [:]
            while true {
                // An older transaction on the server delays readers.
                guard let lines = try reader.nextUnlessHeldUp() else { continue }
                if lines.isEmpty { break }
                if known.count < 3_000 { known.merge(names(lines)) { first, _ in first } }
                pages += lines.isEmpty ? 0 : 1
            }
            #expect(pages > 6)
            #expect(try passes(store) == 1)
            #expect(known.count == 3_000 && known.filter { $0.value == .text("old") }.count == 2_998)
            #expect(known["7"] == .some(nil) && known["8"] == .some(nil))
        }
    }

    /// Also one that came after the changelog was read.
    @Test func aChangeBetweenTwoPagesIsSeen() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await sync(fixture, 1...1_200, name: "old")
            let configuration = try fixture.configuration(Self.sources)
            let store = try #require(try configuration.openExistingStore())
            defer { try? store.close() }
            var reader = ChangelogReader(
                store, sources: [], after: nil, images: .init(.values, configuration, EngineFixture.registry))
            // An older transaction on the server delays readers.
            while try reader.isHeldUp() { await Task.yield() }
            let first = names(try reader.next())
            #expect(first.count == 500 && first.allSatisfy { $0.value == .text("old") })
            try await sync(fixture, 1...1_200, name: "new")
            let second = names(try reader.next())
            #expect(second.count == 500 && second.allSatisfy { $0.value == nil })
            #expect(try passes(store) == 1)
        }
    }
}
