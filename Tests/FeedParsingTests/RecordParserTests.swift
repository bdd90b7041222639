import FeedModel
import FeedStaging
import FeedStores
import Foundation
import SQLiteStore
import GRDB
import TestSupport
import Testing
import XMLRecords
import XMLStream
@testable import FeedParsing

/// A stack's parser that is made of a record's type.
@Suite struct RecordParserTests {
    struct Dish: XMLRecord, FeedRecord, Equatable {
        var id: Int
        var name: String?
        static func accepts(_ element: XMLElementView) -> Bool { element["@hidden"] == nil }
        static func recordType(for element: XMLElementView) -> any XMLRecord.Type {
            switch element["@kind"] {
            case "drink": Drink.self
            case "part": Part.self
            default: Dish.self
            }
        }
    }

    struct Part: XMLRecord {
        var name: String
    }

    struct Drink: XMLRecord, FeedRecord, Equatable {
        var id: Int
        var litres: Double
    }

    private func parse(_ parser: Parser, _ xml: String, _ body: (WorkerContext) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let schema = """
                CREATE TABLE dish (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE drink (id INTEGER PRIMARY KEY, litres REAL);
                """
            let store = try SQLiteStore(path: folder.file("store.sqlite"), schema: schema)
            let context = store.makeWorkerContext(source: "s")
            defer { context.remove() }
            context.beginRequest(0, rule: MergeRule())
            let response = FeedResponse(
                requestedURL: "u", url: "u", status: 200, headers: [], fetchedAt: Date(), validators: Validators())
            let handler = parser.makeHandler(response, context: context)
            let stream = XMLStreamParser(response, handler: handler)
            try withExtendedLifetime(handler) {
                // Byte for byte: records end in the middle of what arrives.
                for byte in Array(xml.utf8) { try [byte].withUnsafeBytes { try stream.parse($0) } }
                try stream.finish()
            }
            try body(context)
        }
    }

    @Test func recordsAreInsertedOneByOne() async throws {
        let parser = Parser.record(Dish.self, element: "menu/dish", version: 2, tables: ["dish", "drink"])
        #expect(parser.name == "Dish" && parser.version == 2 && parser.tables == ["dish", "drink"])
        #expect(Parser.record(Drink.self).tables == ["drink"])
        let xml = """
            <menus><menu><dish id="1"><name>Soup</name></dish><dish id="2" hidden="1"/><dish id="3" kind="drink">
            <litres>0.5</litres></dish></menu><menu><dish id="4"/></menu><dish id="5"/></menus>
            """
        try await parse(parser, xml) { context in
            let dishes = try context.fetchAll(Dish.self)
            let drinks = try context.fetchAll(Drink.self)
            #expect(context.insertedRows == 3 && drinks == [Drink(id: 3, litres: 0.5)])
            #expect(dishes == [Dish(id: 1, name: "Soup"), Dish(id: 4)])
        }
    }

    @Test func aChosenTypeMustBeInsertable() async throws {
        await #expect(throws: XMLRecordError.self) {
            try await parse(.record(Dish.self), "<m>\n<dish kind='part'><name>x</name></dish></m>") { _ in }
        }
        await #expect(throws: XMLRecordError.self) {
            try await parse(.record(Dish.self), "<m><dish id='x'/></m>") { _ in }
        }
    }
}
