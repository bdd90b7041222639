import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestSupport
import Testing
import XMLStream
@testable import FeedParsing

/// Every overload of `bind`, through a real document.
@Suite(.serialized) struct BindTests {
    enum Color: String { case red, green }
    enum Level: Int { case low = 1, high }

    final class EverythingParser: FeedParser {
        nonisolated(unsafe) static var last: EverythingParser?  // Tests in this suite run one after another.

        var string = "", optionalString: String?, int = 0, optionalInt: Int?, byte: UInt8 = 0, double = 0.0
        var optionalDouble: Double?, float: Float = 0, decimal = Decimal(), bool = false, optionalBool: Bool?
        var date = Date.distantPast, optionalDate: Date?, data = Data(), url = URL(string: "x:")!, optionalURL: URL?
        var color = Color.red, optionalColor: Color?, level = Level.low, attribute = 0, missing = 42,
            optionalAttribute: Color?
        var absent: Int? = 1, absentColor: Color? = .red
        var seen: [String] = []

        override func didStartElement() throws {
            EverythingParser.last = self
            bind(&missing, attribute: "none")
            bind(&absent, attribute: "none")
            bind(&absentColor, attribute: "none")
        }

        override func didEndElement() throws {
            seen.append("\(path) \(depth) \(localName) \(rawText)")
            switch element {
            case "string": bind(&string)
            case "optionalString": bind(&optionalString)
            case "int": bind(&int)
            case "optionalInt": bind(&optionalInt)
            case "byte": bind(&byte)
            case "double": bind(&double)
            case "optionalDouble": bind(&optionalDouble)
            case "float": bind(&float)
            case "decimal": bind(&decimal)
            case "bool": bind(&bool)
            case "optionalBool": bind(&optionalBool)
            case "date": bind(&date)
            case "optionalDate": bind(&optionalDate)
            case "data": bind(&data)
            case "url": bind(&url)
            case "optionalURL": bind(&optionalURL)
            case "color": bind(&color)
            case "optionalColor": bind(&optionalColor)
            case "level": bind(&level)
            case "p:attributes":
                bind(&attribute, attribute: "n")
                bind(&optionalAttribute, attribute: "c")
            default: break
            }
        }
    }

    private func parse(_ content: String) throws -> EverythingParser {
        let store = try SQLiteStore(
            path: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path)
        defer {
            for suffix in ["", "-wal", "-shm", "-lock"] {
                try? FileManager.default.removeItem(atPath: store.path + suffix)
            }
        }
        let context = store.makeWorkerContext(source: "s")
        defer { context.remove() }
        let response = FeedResponse(
            requestedURL: "u", url: "u", status: 200, headers: [], fetchedAt: Date(), validators: Validators())
        let handler = ClassHandler(EverythingParser.self, context: context, response: response)
        let stream = XMLStreamParser(response, handler: handler)
        try withExtendedLifetime(handler) {
            try Array("<all xmlns:p='urn:p'>\(content)</all>".utf8).withUnsafeBytes { try stream.parse($0) }
            try stream.finish()
        }
        return try #require(EverythingParser.last)
    }

    @Test func valuesOfEveryType() throws {
        let parser = try parse(
            """
            <string> a <![CDATA[<b>]]> </string><optionalString/><int> -5 </int><optionalInt/><byte>255</byte>
            <double>1e3</double><optionalDouble>2.5</optionalDouble><float>0.5</float><decimal>0.10</decimal><bool>yes</bool>
            <optionalBool>0</optionalBool><date>2026-11-21</date><optionalDate/><data>SGk=</data><url>https://e.org/?a=b</url>
            <optionalURL/><color>green</color><optionalColor/><level>2</level><p:attributes n="7" c="red"/>
            """)
        #expect(
            parser.string == "a <b>" && parser.optionalString == "" && parser.int == -5 && parser.optionalInt == nil)
        #expect(parser.byte == 255 && parser.double == 1000 && parser.optionalDouble == 2.5 && parser.float == 0.5)
        #expect(parser.decimal == Decimal(string: "0.10") && parser.bool && parser.optionalBool == false)
        #expect(parser.date == Date(timeIntervalSince1970: 1_795_219_200) && parser.optionalDate == nil)
        #expect(
            parser.data == Data("Hi".utf8) && parser.url.absoluteString == "https://e.org/?a=b"
                && parser.optionalURL == nil)
        #expect(parser.color == .green && parser.optionalColor == nil && parser.level == .high)
        #expect(parser.attribute == 7 && parser.missing == 42 && parser.optionalAttribute == .red)
        #expect(parser.absent == nil && parser.absentColor == nil)
        #expect(parser.seen.contains("/all/p:attributes 2 attributes "))
    }

    @Test(arguments: [
        ("int", "", "integer"), ("int", "1.5", "integer"), ("byte", "256", "0 to 255"), ("double", "abc", "number"),
        ("decimal", "1e5", "decimal"), ("bool", "maybe", "true, false"), ("date", "someday", "date"),
        ("data", "?", "base 64"),
        ("color", "blue", "Color"), ("level", "9", "Level"), ("optionalInt", "x", "integer"),
    ])
    func whatDoesNotConvert(element: String, text: String, expected: String) throws {
        do {
            _ = try parse("\n\n<\(element)>\(text)</\(element)>")
            Issue.record("'\(text)' was bound")
        } catch let error as BindingError {
            #expect(
                error.element == element && error.line == 3 && error.value == text && error.expected.contains(expected))
        }
    }
}
