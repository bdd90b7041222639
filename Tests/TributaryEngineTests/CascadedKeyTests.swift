import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Rows that a foreign key deletes are named in the changelog as their own source has named them.
@Suite(.onEachStore) struct CascadedKeyTests {
    private static let schema = """
        CREATE TABLE IF NOT EXISTS shop (id TEXT PRIMARY KEY NOT NULL);
        CREATE TABLE IF NOT EXISTS offer (
            id INTEGER PRIMARY KEY, code TEXT UNIQUE, shop TEXT REFERENCES shop(id) ON DELETE CASCADE);
        """
    private static let shops = """
        [sources.s]
        keep_history = true
        [[sources.s.requests]]
        url = "URL/shops"
        sync = "mirror"
        [[sources.s.requests.tables]]
        table = "shop"
        element = "i"
        key = ["id"]
        columns = { id = "@id" }

        """
    private static let offers = """
        [[sources.offers.requests]]
        url = "URL/offers"
        [[sources.offers.requests.tables]]
        table = "offer"
        element = "i"
        key = ["code"]
        columns = { code = "@code", shop = "@shop" }

        """

    /// Leaves a store from which the shop `b` has gone, and its offer with it.
    private func with(_ body: (EngineFixture) async throws -> Void) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: Self.schema)
            fixture.server.document("/shops", "<r><i id='a'/><i id='b'/></r>")
            fixture.server.document("/offers", "<r><i code='o1' shop='a'/><i code='o2' shop='b'/></r>")
            try await fixture.sync(Self.shops)
            try await fixture.sync(Self.shops + Self.offers, ["offers"])
            fixture.server.document("/shops", "<r><i id='a'/></r>")
            let report = try await fixture.sync(Self.shops + Self.offers, ["s"]).first
            #expect(report?.counts.deleted == 2, "\(report?.error ?? "")")
            try await body(fixture)
        }
    }

    private func changes(_ fixture: EngineFixture) throws -> [String] {
        try fixture.rows("SELECT key, operation FROM tributary_change WHERE \"table\" = 'offer' ORDER BY id")
    }

    @Test func theDeletionIsThatOfTheInsertedRow() async throws {
        try await with { (fixture) async throws in
            #expect(try changes(fixture) == ["o1|insert", "o2|insert", "o2|delete"])
        }
    }

    @Test func itsRowBeforeIsFoundByThatName() async throws {
        try await with { (fixture) async throws in
            let configuration = try fixture.configuration(Self.shops + Self.offers)
            let store = try #require(try configuration.openExistingStore())
            defer { try? store.close() }
            var reader = ChangelogReader(
                store, sources: ["s"], after: nil, images: .init(.values, configuration, EngineFixture.registry))
            var deleted: [ChangelogEntry] = []
            while true {
                // An older transaction on the server delays readers.
                guard let lines = try reader.nextUnlessHeldUp() else { continue }
                if lines.isEmpty { break }
                for case .change(let change) in lines.map(\.content)
                where change.table == "offer" && change.operation == "delete" { deleted.append(change) }
            }
            #expect(deleted.map(\.key) == [.text("o2")])
            let before = deleted.first?.images?.before ?? []
            #expect(before.contains(RowImages.Value("shop", .text("b"))), "\(before)")
        }
    }

    @Test func anUndoNamesItSo() async throws {
        try await with { (fixture) async throws in
            let configuration = try fixture.configuration(Self.shops + Self.offers)
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            _ = try await UndoRun(
                "s", to: .lastChange, in: store, declaration: configuration[source: "s"],
                parsers: EngineFixture.registry,
                keys: DeclaredKeys(configuration, parsers: EngineFixture.registry)
            ).run()
            try store.close()
            #expect(try changes(fixture).suffix(2) == ["o2|delete", "o2|insert"])
            #expect(try fixture.rows("SELECT code FROM offer ORDER BY code") == ["o1", "o2"])
        }
    }
}
