import FeedModel
@testable import FeedParsing
import FeedStaging
import Foundation
import GRDB
import TestEngine
import TestStores
import TestSupport
import Testing
import XMLRecords

@testable import TributaryEngine

/// Tables that are derived from record types.
@Suite(.onEachStore) struct RecordTableTests {
    struct Product: XMLRecord, FeedRecord {
        enum Kind: String, Codable, CaseIterable { case book, tool }
        enum Level: Int, Codable { case low = 1, high }

        static let databaseKey = ["number", "shop"]

        var number: Int
        var shop: String
        var name: String?
        var price: Double?
        var weight: Decimal?
        var isNew: Bool
        var kind: Kind
        var level: Level?
        var tags: [String]
        var page: URL?
        var seen: Date?
        var token: UUID?
        var count: UInt8?
    }

    private static let source = "[[sources.s.requests]]\nurl = \"URL/feed\"\nparser = \"Product\"\nsync = \"mirror\"\n"

    private func serve(_ fixture: EngineFixture, _ name: String) {
        fixture.server.document(
            "/feed",
            """
            <shop><product number='1' shop='a'><name>\(name)</name><price>1.5</price><weight>0.10</weight><isNew>true</isNew>
            <kind>tool</kind><level>2</level><tags>x</tags><tags>y</tags><page>https://e.org/1</page></product>
            <product number='2' shop='a'><isNew>0</isNew><kind>book</kind></product></shop>
            """)
    }

    @Test func aRecordMakesItsTableAndItsKey() async throws {
        try await EngineFixture.with(parsers: [.record(Product.self)]) { (fixture) async throws in
            serve(fixture, "one")
            let first = try #require(try await fixture.sync(Self.source).first)
            #expect(first.outcome == .committed && first.counts.inserted == 2, "\(String(describing: first.error))")
            serve(fixture, "two")
            let second = try #require(try await fixture.sync(Self.source).first)
            #expect(second.counts.updated == 1 && second.counts.inserted == 0, "\(String(describing: second.error))")
            let rows = try fixture.rows(
                "SELECT number || '|' || name || '|' || price || '|' || kind || '|' || level FROM product WHERE name IS NOT NULL"
            )
            #expect(rows == ["1|two|1.5|tool|2"])
            let empty = try fixture.rows(
                "SELECT count(*) FROM product WHERE number = 2 AND price IS NULL AND level IS NULL")
            #expect(empty == ["1"])
        }
    }

    /// What a table lacks is found before a run, and a property that is not optional is a column that takes no NULL.
    @Test func theTableHasAColumnForEachProperty() throws {
        let schema = try #require(Parser.record(Product.self).tableSchemas.first)
        let columns = schema.columns.map { "\($0.name) \($0.word ?? "-")\($0.isNotNull ? " not null" : "")" }
        #expect(schema.name == "product" && schema.key == ["number", "shop"])
        #expect(
            columns == [
                "number integer not null", "shop text not null", "name text", "price real", "weight decimal",
                "isNew boolean not null", "kind text not null", "level integer", "tags text not null", "page text",
                "seen text", "token blob", "count integer",
            ])
        #expect(Parser.record(Item.self, element: "item").tableSchemas.isEmpty)
    }
}

extension Item: XMLRecord {}

/// Names that a parser compares by their namespaces.
@Suite struct ParserNamespaceTests {
    final class EpisodesParser: FeedParser {
        override class var namespaces: [String: String] { ["pod": "urn:pod", "": "urn:main"] }
        private struct OneAttributeOnly: Error {}
        private var item = Item()

        override func didStartElement() throws {
            guard element == "item" else { return }
            item = Item()
            bind(&item.id, attribute: "pod:id")
            if item.id != attributes["pod:id"] { throw OneAttributeOnly() }
        }

        override func didEndElement() throws {
            switch (parent, element) {
            case ("item", "pod:name"): bind(&item.name)
            case ("item", "{urn:other}name"): item.size = text.count
            case ("channel", "item"): try context.insert(item)
            default: break
            }
        }
    }

    @Test func namesHaveThePrefixesThatTheParserDeclares() async throws {
        try await EngineFixture.with(parsers: [.class(EpisodesParser.self)]) { (fixture) async throws in
            fixture.server.document(
                "/feed",
                """
                <m:channel xmlns:m='urn:main' xmlns:p='urn:pod' xmlns:pod='urn:other'><m:item p:id='1' id='9'>
                <p:name>right</p:name><pod:name>abc</pod:name><name>wrong</name></m:item></m:channel>
                """)
            let source = "[[sources.s.requests]]\nurl = \"URL/feed\"\nparser = \"EpisodesParser\"\n"
            let report = try #require(try await fixture.sync(source).first)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(try fixture.rows("SELECT id || name || size FROM item") == ["1right3"])
        }
    }
}
