import Foundation
import Testing
@testable import XMLRecords

/// From values to XML, and back.
@Suite struct XMLRecordEncodingTests {
    let decoder = XMLRecordDecoder()
    let encoder = XMLRecordEncoder(indentation: nil)

    private func failure(_ value: some Encodable) -> String {
        do {
            return "encoded \(try encoder.encode(value))"
        } catch {
            return "\(error)"
        }
    }

    // MARK: - Form

    struct Book: XMLRecord, Equatable {
        var title: String
        var isbn: String
        var price: Decimal?
        var currency: String?
        var author: [String]
        var home: String?
        var summary: String?
        static var xmlPaths: [String: String] {
            [
                "isbn": "@isbn", "price": "offer/price", "currency": "offer/price/@currency",
                "author": "authors/author",
                "home": "link[@rel='home']/@href",
            ]
        }
        static var xmlOrder: [String] { ["summary", "author", "title"] }
    }

    @Test func pathsOrderAndIndentation() throws {
        let book = Book(
            title: "A & B", isbn: "1", price: 2, currency: "EUR", author: ["x", "y"], home: "h", summary: "")
        let xml = try XMLRecordEncoder().encode(book)
        #expect(
            xml == """
                <book isbn="1">
                  <summary/>
                  <authors>
                    <author>x</author>
                    <author>y</author>
                  </authors>
                  <title>A &amp; B</title>
                  <offer>
                    <price currency="EUR">2</price>
                  </offer>
                  <link rel="home" href="h"/>
                </book>
                """)
        #expect(try decoder.decode(Book.self, from: xml) == book)
        let empty = Book(title: "", isbn: "", author: [])
        #expect(try encoder.encode(empty, element: "b") == "<b isbn=\"\"><authors/><title/></b>")
    }

    struct Mixed: XMLRecord, Equatable {
        var text: String
        var size: Size
        var flag: Bool?
        struct Size: Codable, Equatable { var width: Int, height: Int }
        static var xmlPaths: [String: String] { ["text": ".", "size": ".", "flag": "@flag"] }
    }

    @Test func ownTextAndContent() throws {
        let mixed = Mixed(text: "t", size: Mixed.Size(width: 1, height: 2), flag: true)
        let xml = try XMLRecordEncoder().encode(mixed)
        #expect(xml == "<mixed flag=\"true\">t<width>1</width><height>2</height></mixed>")
        #expect(try decoder.decode(Mixed.self, from: xml) == mixed)
    }

    @Test func setsAndDictionariesHaveAnOrder() throws {
        #expect(try encoder.encode(Set([3, 1, 2]), element: "s") == "<s><int>1</int><int>2</int><int>3</int></s>")
        #expect(try encoder.encode(["b": 1, "a": 2], element: "d") == "<d><a>2</a><b>1</b></d>")
    }

    @Test func transformsAndDateFormatsAreReversed() throws {
        let xml = "<priced><price>1,5</price><note>a</note><from>24.12.2026</from></priced>"
        let priced = try decoder.decode(XMLRecordDecodingTests.Priced.self, from: xml)
        #expect(try encoder.encode(priced) == xml)
    }

    struct Podcast: XMLRecord, Equatable {
        var author: String
        var language: String?
        enum CodingKeys: String, CodingKey { case author = "itunes:author", language = "language" }
        static var xmlPaths: [String: String] { ["language": "@xml:lang"] }
        static var xmlNamespaces: [String: String] { ["itunes": "http://e.org/itunes"] }
    }

    @Test func prefixesAreDeclaredOnce() throws {
        struct Podcasts: Codable, Equatable { var podcast: [Podcast] }
        let podcast = Podcast(author: "x", language: "de")
        let xml = try encoder.encode(podcast)
        #expect(
            xml == "<podcast xmlns:itunes=\"http://e.org/itunes\" xml:lang=\"de\">"
                + "<itunes:author>x</itunes:author></podcast>")
        #expect(try decoder.decode(Podcast.self, from: xml) == podcast)
        struct Keywords: XMLRecord {
            var words: Set<String>
            static var xmlPaths: [String: String] { ["words": "itunes:keyword"] }
            static var xmlNamespaces: [String: String] { ["itunes": "u"] }
        }
        #expect(
            try encoder.encode(Keywords(words: ["b", "a"])).hasSuffix(
                "<itunes:keyword>a</itunes:keyword><itunes:keyword>b</itunes:keyword></keywords>"))
        let podcasts = Podcasts(podcast: [podcast, podcast])
        #expect(try decoder.decode(Podcasts.self, from: encoder.encode(podcasts)) == podcasts)
    }

    class Base: XMLRecord {
        var name = "n"
        init() {}
    }

    final class Derived: Base {
        var size = 2
        private enum Keys: CodingKey { case size }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            size = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .size)
            try super.init(from: decoder)
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(size, forKey: .size)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func subclassesAreWrittenAsWhatTheyAre() throws {
        let items: [Base] = [Base(), Derived()]
        #expect(
            try encoder.encode(items, element: "l")
                == "<l><base><name>n</name></base><derived><size>2</size><name>n</name></derived></l>")
        let derived = try decoder.decode(Derived.self, from: "<d><size>3</size><name>m</name></d>")
        #expect(derived.size == 3 && derived.name == "m")
    }

    // MARK: - What cannot be written

    struct Odd: XMLRecord {
        var value: [String]
        static var xmlPaths: [String: String] { ["value": "@value"] }
    }

    struct Wild: XMLRecord {
        var value: String
        static var xmlPaths: [String: String] { ["value": "*/x"] }
    }

    @Test func whatCannotBeWritten() {
        #expect(
            failure(Book(title: "a\u{1}", isbn: "", author: []))
                == "element <book>, 'title': the character U+0001 cannot be written in XML")
        #expect(failure(Book(title: "", isbn: "\u{FFFF}", author: [])).contains("'isbn': the character U+FFFF"))
        #expect(failure(Odd(value: ["a"])).contains("'value': its path leads to an attribute"))
        #expect(failure(Wild(value: "a")).contains("'value': '*' in its path has no name"))
        #expect(failure(["1": 2]).contains("'1' is not a name in XML"))
        #expect(failure(["a b": 2]).contains("'a b' is not a name in XML"))
        #expect(failure(["p:a": 2]).contains("no record's xmlNamespaces says what the prefix 'p' stands for"))
        #expect(failure([[1]: 2]).contains("a dictionary's keys are strings"))
    }

    // MARK: - There and back

    enum Level: Int, Codable { case low = 1, high }

    enum Choice: Codable, Hashable {
        case part(XMLRecordDecodingTests.Part)
        case number(value: Int)
        case nothing
    }

    struct Everything: XMLRecord, Equatable {
        var id: Int64
        var attribute: String
        var text: String
        var optional: String?
        var optionalAttribute: String?
        var nested: String
        var number: Double
        var ratio: Float?
        var amount: Decimal?
        var flag: Bool
        var level: Level?
        var date: Date
        var data: Data?
        var url: URL?
        var list: [String]
        var wrapped: [Int]?
        var labels: Set<String>
        var named: [String: Int]
        var keyed: [String: String]
        var parts: [XMLRecordDecodingTests.Part]
        var grid: [[Bool]]
        var choices: [Choice]
        var own: String

        static var xmlPaths: [String: String] {
            [
                "id": "@id", "attribute": "@text", "optionalAttribute": "@optional", "nested": "deep/er/text",
                "ratio": "deep/@ratio", "wrapped": "wrapped/int", "keyed": "keyed/entry[@key]", "parts": "parts/part",
                "own": ".",
            ]
        }
        static var xmlOrder: [String] { ["parts", "nested", "text"] }
    }

    struct Generator: RandomNumberGenerator {
        var state: UInt64

        /// Sebastiano Vigna, SplitMix64.
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }

        private static let pieces = [
            "]]>", "<", "&", "'", "\"", "&amp;", "<![CDATA[", "-->", "&#1;", "𝒳", "😀", "é", "e\u{301}", "\u{85}",
            "\u{2028}", "\u{FFFD}", "\t", "\n", "\r", "\r\n", " ", "  ", "\u{A0}", "a", "1", "日本", "\u{10FFFD}", "%",
        ]

        mutating func text() -> String {
            (0..<Int.random(in: 0...6, using: &self)).map { _ in
                Self.pieces.randomElement(using: &self) ?? ""
            }.joined()
        }

        mutating func maybe<Value>(_ value: (inout Generator) -> Value) -> Value? {
            Bool.random(using: &self) ? value(&self) : nil
        }

        mutating func list<Value>(_ value: (inout Generator) -> Value) -> [Value] {
            (0..<Int.random(in: 0...3, using: &self)).map { _ in value(&self) }
        }

        mutating func int() -> Int { Int.random(in: .min ... .max, using: &self) }

        mutating func part() -> XMLRecordDecodingTests.Part {
            XMLRecordDecodingTests.Part(name: text(), size: maybe { $0.int() })
        }

        mutating func choice() -> Choice {
            switch Int.random(in: 0...2, using: &self) {
            case 0: .part(part())
            case 1: .number(value: int())
            default: .nothing
            }
        }

        mutating func everything() -> Everything {
            Everything(
                id: Int64(int()), attribute: text(), text: text(), optional: maybe { $0.text() },
                optionalAttribute: maybe { $0.text() }, nested: text(),
                number: [0, -0.5, 1e300, .infinity, -.infinity, 2.5e-308, 0.1].randomElement(using: &self) ?? 0,
                ratio: maybe { Float.random(in: -1...1, using: &$0) }, amount: maybe { Decimal($0.int()) / 1000 },
                flag: Bool.random(using: &self), level: maybe { Bool.random(using: &$0) ? .low : .high },
                date: Date(timeIntervalSince1970: Double(Int32.random(in: .min ... .max, using: &self)) / 8),
                data: maybe { Data($0.text().utf8) }.flatMap { $0.isEmpty ? nil : $0 },
                url: maybe { URL(string: "https://e.org/\($0.int())?a=b&c='d'")! }, list: list { $0.text() },
                wrapped: maybe { $0.list { $0.int() } }, labels: Set(list { $0.text() }),
                named: Dictionary(list { ("n\($0.int() & 0xFF)", $0.int()) }) { first, _ in first },
                // What is left of two keys when they are trimmed must not be the same key.
                keyed: Dictionary(list { ("\($0.int())" + $0.text(), $0.text()) }) { first, _ in first },
                parts: list { $0.part() },
                grid: list { $0.list { Bool.random(using: &$0) } }, choices: list { $0.choice() }, own: text())
        }
    }

    @Test(arguments: [nil, 0, 2])
    func everythingComesBack(indentation: Int?) throws {
        let encoder = XMLRecordEncoder(indentation: indentation)
        var generator = Generator(state: 42)
        for _ in 0..<200 {
            let value = generator.everything()
            let xml = try encoder.encode(value)
            let decoded = try decoder.decode(Everything.self, from: xml)
            #expect(decoded == value.trimmed, "\(xml)")
            // What has been trimmed once is written and read without loss.
            let again = try encoder.encode(decoded)
            #expect(try decoder.decode(Everything.self, from: again) == decoded)
        }
    }
}

extension String {
    /// What decoding leaves of a text.
    fileprivate var trimmedText: String {
        let scalars = unicodeScalars.drop { " \t\r\n".unicodeScalars.contains($0) }
        var end = scalars.endIndex
        while end > scalars.startIndex, " \t\r\n".unicodeScalars.contains(scalars[scalars.index(before: end)]) {
            end = scalars.index(before: end)
        }
        return String(scalars[..<end])
    }
}

extension XMLRecordEncodingTests.Everything {
    fileprivate var trimmed: Self {
        var value = self
        value.attribute = attribute.trimmedText
        value.text = text.trimmedText
        value.optional = optional?.trimmedText
        value.optionalAttribute = optionalAttribute?.trimmedText
        value.nested = nested.trimmedText
        value.list = list.map(\.trimmedText)
        value.labels = Set(labels.map(\.trimmedText))
        value.parts = parts.map { XMLRecordDecodingTests.Part(name: $0.name.trimmedText, size: $0.size) }
        value.choices = choices.map {
            if case .part(let part) = $0 { .part(.init(name: part.name.trimmedText, size: part.size)) } else { $0 }
        }
        value.own = own.trimmedText
        value.keyed = Dictionary(uniqueKeysWithValues: keyed.map { ($0.key.trimmedText, $0.value.trimmedText) })
        return value
    }
}
