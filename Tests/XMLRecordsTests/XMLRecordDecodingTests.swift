import Foundation
import Testing
import XMLStream
@testable import XMLRecords

/// From elements to values: each feature of records over a document of its own.
@Suite struct XMLRecordDecodingTests {
    let decoder = XMLRecordDecoder()

    /// What decoding fails with, as it is shown.
    private func failure<Value: Decodable>(_ type: Value.Type, _ xml: String) -> String {
        do {
            return "decoded \(try decoder.decode(type, from: xml))"
        } catch {
            return "\(error)"
        }
    }

    // MARK: - Namespaces

    struct Episode: XMLRecord, Equatable {
        var title: String?
        var author: String?
        var explicit: String?
        var image: String?
        static var xmlElement: String { "f:episode" }
        static var xmlPaths: [String: String] {
            [
                "title": "f:title", "author": "itunes:author", "explicit": "@itunes:explicit",
                "image": "itunes:image/@href",
            ]
        }
        static var xmlNamespaces: [String: String] { ["itunes": "urn:itunes", "f": "urn:feed"] }
        static func accepts(_ element: XMLElementView) -> Bool { element["itunes:block"] != "yes" }
    }

    /// A prefix that the type binds stands for its namespace, whatever the publisher calls it.
    @Test(arguments: [
        """
        <f:l xmlns:f='urn:feed' xmlns:itunes='urn:itunes'><f:episode itunes:explicit='no'><f:title>a</f:title>
        <itunes:author>b</itunes:author><itunes:image href='c'/></f:episode>
        <f:episode><f:title>x</f:title><itunes:block>yes</itunes:block></f:episode></f:l>
        """,
        """
        <l xmlns='urn:feed' xmlns:i='urn:itunes'><episode i:explicit='no' explicit='?'><i:title>?</i:title><title>a</title>
        <author>?</author><i:author>b</i:author><i:image href='c'/></episode>
        <episode><title>x</title><i:block>yes</i:block></episode></l>
        """,
        """
        <l xmlns:itunes='urn:other'><x:episode xmlns:x='urn:feed' xmlns:y='urn:itunes' y:explicit='no'>
        <itunes:author>?</itunes:author><author xmlns='urn:itunes'>b</author><x:title>a</x:title>
        <y:image href='c' y:href='?'/></x:episode></l>
        """,
    ])
    func namespacesByURI(xml: String) throws {
        let wanted = [Episode(title: "a", author: "b", explicit: "no", image: "c")]
        #expect(try decoder.decodeAll(Episode.self, from: xml) == wanted)
    }

    struct Loose: XMLRecord, Equatable {
        var title: String?
        var other: String?
        static var xmlPaths: [String: String] { ["other": "o:title"] }
        static var xmlNamespaces: [String: String] { ["": "urn:feed", "o": "urn:other"] }
    }

    @Test func theNamespaceOfNamesWithoutPrefix() throws {
        let wanted = Loose(title: "a", other: "b")
        for xml in [
            "<l xmlns='urn:feed' xmlns:o='urn:other'><title>a</title><o:title>b</o:title></l>",
            "<l xmlns='urn:other' xmlns:f='urn:feed'><f:title>a</f:title><title>b</title></l>",
            "<l xmlns:o='urn:other'><title>a</title><o:title>b</o:title></l>",
        ] {
            #expect(try decoder.decode(Loose.self, from: xml) == wanted, "\(xml)")
        }
    }

    // MARK: - Places

    struct Place: XMLRecord, Equatable {
        var id: Int
        var code: String
        var name: String
        var country: String?
        var language: String?
        var home: String?
        var text: String
        static var xmlPaths: [String: String] {
            [
                "id": "@id", "name": "info/name", "language": "info/name/@xml:lang", "text": ".",
                "home": "link[@rel='home']/@href",
            ]
        }
    }

    @Test func attributesTextAndPaths() throws {
        let xml = """
            <place id=" 7 " code="attribute">
              one <code>element</code>
              <info/><info><name xml:lang="de"> Köln &amp; <![CDATA[<Bonn>]]> </name><name>second</name></info>
              <link rel="self" href="s"/><link rel="home" href="h"/> two
            </place>
            """
        let place = try decoder.decode(Place.self, from: xml)
        #expect(place.id == 7 && place.code == "attribute" && place.name == "Köln & <Bonn>" && place.country == nil)
        #expect(place.language == "de" && place.home == "h")
        #expect(place.text.hasPrefix("one") && place.text.hasSuffix("two"))
        #expect(try decoder.decode(Place.self, from: Array(xml.utf8)) == place)
        #expect(try decoder.decode(Place.self, from: Data(xml.utf8)) == place)
    }

    @Test func aStringIsReadWhateverEncodingItDeclares() throws {
        let xml = "<?xml version='1.0' encoding='ISO-8859-1'?><a>ä</a>"
        #expect(try decoder.decode(String.self, from: xml) == "ä")
        #expect(try decoder.decode(String.self, from: Array(xml.utf8)) == "Ã¤")
    }

    struct Values: Codable, Equatable {
        var int: Int, byte: UInt8, double: Double, float: Float, bool: Bool, decimal: Decimal, date: Date, data: Data
        var url: URL, id: UUID
    }

    @Test func valuesOfEveryType() throws {
        let id = UUID()
        let values = try decoder.decode(
            Values.self,
            from: """
                <v int="-5" byte="255" bool="yes"><double>1e3</double><float>0.5</float><decimal>0.10</decimal>
                <date>Sat, 21 Nov 2026 00:00:00 GMT</date><data>SGk=</data><url>https://e.org/?a=b</url>
                <id>\(id)</id></v>
                """)
        #expect(
            values
                == Values(
                    int: -5, byte: 255, double: 1000, float: 0.5, bool: true, decimal: Decimal(string: "0.10")!,
                    date: Date(timeIntervalSince1970: 1_795_219_200), data: Data("Hi".utf8),
                    url: URL(string: "https://e.org/?a=b")!, id: id))
    }

    // MARK: - Collections

    struct Collections: XMLRecord, Equatable {
        var number: [Int]
        var label: Set<String>
        var tags: [String]
        var optional: [String]?
        var score: [String: Double]
        var marks: [String: Int]
        var grid: [[Int]]
        var nested: [Part]
        static var xmlPaths: [String: String] {
            ["tags": "tags/tag", "optional": "list/entry", "marks": "mark[@by]", "grid": "row"]
        }
    }

    struct Part: Codable, Hashable {
        var name: String
        var size: Int?
    }

    @Test func listsSetsAndDictionaries() throws {
        let collections = try decoder.decode(
            Collections.self,
            from: """
                <c><number>1</number><label>a</label><number>2</number><label>b</label><label>a</label>
                <tags><tag>x</tag><other/><tag/></tags><tags><tag>z</tag></tags>
                <score><taste>1.5</taste><look>2</look><taste>9</taste></score>
                <mark by="Anna">3</mark><mark>4</mark><mark by="Ben">5</mark>
                <row><v>1</v><v>2</v></row><row/><row><w>3</w></row>
                <nested><name>p</name></nested><nested name="q" size="4"/><list/></c>
                """)
        #expect(
            collections.number == [1, 2] && collections.label == ["a", "b"] && collections.tags == ["x", "", "z"])
        #expect(collections.score == ["taste": 1.5, "look": 2] && collections.marks == ["Anna": 3, "Ben": 5])
        #expect(collections.grid == [[1, 2], [], [3]] && collections.optional == [])
        #expect(collections.nested == [Part(name: "p"), Part(name: "q", size: 4)])
    }

    @Test func whatHasNoElementsIsEmpty() throws {
        let collections = try decoder.decode(Collections.self, from: "<c/>")
        #expect(collections.number.isEmpty && collections.label.isEmpty && collections.score.isEmpty)
        #expect(collections.optional == nil)
    }

    @Test func rootsThatAreCollections() throws {
        #expect(try decoder.decode([Int].self, from: "<a><b>1</b><c>2</c></a>") == [1, 2])
        #expect(try decoder.decode([String: [Int]].self, from: "<a><b><x>1</x></b><c/></a>") == ["b": [1], "c": []])
        #expect(try decoder.decode([Int?].self, from: "<a><b>1</b><b/></a>") == [1, nil])
    }

    // MARK: - Optionals and enumerations

    struct Optionals: Codable, Equatable {
        var string: String?, int: Int?, bool: Bool?, date: Date?, color: Color?, part: Part?, size: Size?
    }

    enum Color: String, Codable, CaseIterable { case red, green }
    enum Size: Int, Codable { case small = 1, large }

    @Test(arguments: [
        ("<o/>", Optionals()),
        ("<o><string/><int/><bool/><date/><color/><part/><size> </size></o>", Optionals(string: "")),
        ("<o string='' int='' color=''/>", Optionals(string: "")),
        (
            "<o string='s' int='1' color='red'><size>2</size><part name='n'/></o>",
            Optionals(string: "s", int: 1, color: .red, part: Part(name: "n"), size: .large)
        ),
    ])
    func emptyAndMissing(xml: String, expected: Optionals) throws {
        #expect(try decoder.decode(Optionals.self, from: xml) == expected)
    }

    enum Shape: Codable, Equatable {
        case circle(Circle)
        case square(side: Int)
        case point
    }

    struct Circle: Codable, Equatable {
        var radius: Double
    }

    @Test func enumerationsWithValues() throws {
        let shapes = try decoder.decode(
            [Shape].self,
            from: """
                <shapes><s><circle><radius>1</radius></circle></s><s><square side="2"/></s><s><point/></s></shapes>
                """)
        #expect(shapes == [.circle(Circle(radius: 1)), .square(side: 2), .point])
    }

    // MARK: - What a record says of itself

    struct Priced: XMLRecord, Equatable {
        var price: Decimal
        var notes: [String]
        var from: Date
        var until: Date?
        static var xmlPaths: [String: String] { ["notes": "note"] }
        static var xmlDateFormat: String? { "dd.MM.yyyy" }
        static var xmlTransforms: [String: XMLTransform] {
            [
                "price": XMLTransform(
                    decode: { $0.replacingOccurrences(of: ",", with: ".") },
                    encode: { $0.replacingOccurrences(of: ".", with: ",") }),
                "notes": XMLTransform(
                    decode: { text in
                        if text == "bad" { throw Refusal() }
                        return text.uppercased()
                    },
                    encode: { $0.lowercased() }),
            ]
        }
    }

    struct Refusal: Error, CustomStringConvertible {
        var description: String { "refused" }
    }

    @Test func transformsAndDateFormats() throws {
        let xml = "<priced price='1,50'><note>a</note><note>b</note><from>24.12.2026</from></priced>"
        let priced = try decoder.decode(Priced.self, from: xml)
        #expect(priced.price == Decimal(string: "1.5") && priced.notes == ["A", "B"] && priced.until == nil)
        #expect(priced.from == Date(timeIntervalSince1970: 1_798_070_400))
        #expect(
            failure(Priced.self, "<p price='1'><note>bad</note></p>")
                == "line 1, element <p>, 'notes': \"bad\" cannot be transformed: refused")
        #expect(
            failure(Priced.self, "<p price='1'><from>2026-12-24</from></p>")
                == "line 1, element <p>, 'from': \"2026-12-24\" is not a date of the form 'dd.MM.yyyy'")
    }

    struct Offer: XMLRecord, Equatable {
        var name: String
        static func accepts(_ element: XMLElementView) -> Bool {
            element["@state"] != "sold" && element["owner/name"] != "nobody"
        }
    }

    struct Market: Codable, Equatable {
        var offer: [Offer]
        var best: Offer?
        var named: [String: Offer]
    }

    @Test func elementsThatAreNotAccepted() throws {
        let xml = """
            <market><offer state="sold"><name>a</name></offer><offer><name>b</name></offer>
            <offer><name>c</name><owner><name>nobody</name></owner></offer>
            <best state="sold"/><best><name>d</name></best>
            <named><x><name>x</name></x><y state="sold"/></named></market>
            """
        let market = try decoder.decode(Market.self, from: xml)
        #expect(market.offer == [Offer(name: "b")] && market.best == Offer(name: "d"))
        #expect(market.named == ["x": Offer(name: "x")])
        #expect(try decoder.decodeAll(Offer.self, from: xml) == [Offer(name: "b")])
        #expect(failure(Offer.self, "<offer state='sold'/>").contains("is not accepted by Offer"))
        struct Single: Decodable { var offer: Offer }
        #expect(failure(Single.self, "<s><offer state='sold'/></s>").contains("'offer': \"\" is not accepted by Offer"))
    }

    struct Questioned: XMLRecord {
        static func accepts(_ element: XMLElementView) -> Bool {
            #expect(element.name == "q" && element.line == 2 && element.text == "own")
            #expect(element.children.map(\.name) == ["a", "b", "a"])
            #expect(element.elements("a/x").map(\.text) == ["1", "2"] && element["a[@n='2']/x"] == "2")
            #expect(element["b"] == "" && element["c"] == nil && element["@d"] == "e" && element["."] == "own")
            return true
        }
    }

    @Test func whatAnElementIsAsked() throws {
        _ = try decoder.decode(
            Questioned.self, from: "\n<q d='e'>own<a><x>1</x></a><b/><a n='2'><x>2</x></a></q>")
    }

    class Animal: XMLRecord {
        var name: String
        class func recordType(for element: XMLElementView) -> any XMLRecord.Type {
            switch element["@kind"] {
            case "dog": Dog.self
            case "rock": Offer.self
            default: Animal.self
            }
        }
    }

    final class Dog: Animal {
        let tricks: [String]
        private enum Keys: CodingKey { case tricks }
        required init(from decoder: any Decoder) throws {
            tricks = try decoder.container(keyedBy: Keys.self).decode([String].self, forKey: .tricks)
            try super.init(from: decoder)
        }
    }

    @Test func theElementChoosesTheType() throws {
        struct Zoo: Decodable { var animal: [Animal] }
        let xml = """
            <zoo><animal><name>Cat</name></animal>
            <animal kind="dog"><name>Rex</name><tricks>sit</tricks><tricks>roll</tricks></animal></zoo>
            """
        let zoo = try decoder.decode(Zoo.self, from: xml)
        #expect(zoo.animal.map(\.name) == ["Cat", "Rex"] && (zoo.animal[1] as? Dog)?.tricks == ["sit", "roll"])
        #expect(try decoder.decodeAll(Animal.self, from: xml).last is Dog)
        #expect(
            failure(Zoo.self, "<zoo>\n<animal kind='rock'><name>x</name></animal></zoo>")
                == "line 2, element <zoo>, 'animal': is a Offer, which is not a Animal")
    }

    // MARK: - Errors

    struct Food: XMLRecord {
        var calories: Int
        var color: Color?
        static var xmlPaths: [String: String] { ["calories": "facts/calories"] }
    }

    @Test(arguments: [
        ("<food/>", "line 1, element <food>, 'calories': there is nothing at 'facts/calories'"),
        (
            "\n<food>\n<facts><calories>many</calories></facts></food>",
            "line 3, element <food>, 'calories': \"many\" is not an integer from \(Int.min) to \(Int.max)"
        ),
        (
            "<food><facts><calories>1</calories></facts><color>blue</color></food>",
            "line 1, element <food>, 'color': \"blue\" is not one of red, green"
        ),
    ])
    func errorsNameThePlace(xml: String, message: String) {
        #expect(failure(Food.self, xml) == message)
    }

    @Test func errorsOfShape() {
        struct List: Decodable { var tag: [String] }
        struct Nested: Decodable { var part: Part }
        #expect(failure(List.self, "<l tag='x'/>").contains("is an attribute, which holds one value and not a list"))
        #expect(failure(Nested.self, "<l part='x'/>").contains("is an attribute, where an element is needed"))
        #expect(failure(Part.self, "<part><name>x</part>").contains("line 1"))
        #expect(failure(Int.self, "<n>x</n>").hasPrefix("line 1, element <n>: \"x\" is not an integer"))
    }

    struct BadPath: XMLRecord {
        var name: String
        static var xmlPaths: [String: String] { ["name": "../name"] }
    }

    struct BadFormat: XMLRecord {
        var date: Date
        static var xmlDateFormat: String? { "b" }
    }

    @Test func errorsOfDeclarations() {
        #expect(failure(BadPath.self, "<a/>").contains("'../name' is not a record's path"))
        #expect(failure(BadFormat.self, "<a/>").contains("'b', BadFormat.xmlDateFormat, is not a date format"))
    }

    @Test func valuesWithinValuesAreLimited() throws {
        struct Tree: Decodable { var tree: [Tree] }
        func nested(_ depth: Int) -> String {
            String(repeating: "<tree>", count: depth) + String(repeating: "</tree>", count: depth)
        }
        _ = try decoder.decode(Tree.self, from: nested(60))
        #expect(failure(Tree.self, nested(500)).contains("lies more than 128 values deep"))
    }

    // MARK: - Streams

    @Test(arguments: [
        ("food", ["a", "b", "c"]), ("menu/food", ["a", "b"]), ("/day/menu/food", ["a", "b"]), ("/food", []),
        ("/menu/food", []), ("day/food", ["c"]),
    ])
    func whichElementsAreRecords(path: String, expected: [String]) throws {
        let xml = """
            <day><menu><food><name>a</name><food><name>inner</name></food></food><food name="b"/></menu>
            <food name="c"/></day>
            """
        #expect(try decoder.decodeAll(Offer.self, element: path, from: xml).map(\.name) == expected)
    }

    @Test func typesAndNamesAreLearntOnce() throws {
        // The second document gives names other numbers and its elements another order, the third leaves some out.
        for xml in ["<p><name>n</name><size>1</size></p>", "<x><size>1</size><y/><name>n</name></x>"] {
            #expect(try decoder.decode(Part.self, from: xml) == Part(name: "n", size: 1))
        }
        #expect(try decoder.decode(Part.self, from: "<p name='n'/>") == Part(name: "n"))
    }

    @Test func oneDecoderServesManyThreads() async throws {
        let decoder = decoder
        try await withThrowingTaskGroup(of: [Part].self) { group in
            for number in 0..<20 {
                group.addTask {
                    try (0..<50).map { try decoder.decode(Part.self, from: "<p name='\(number)' size='\($0)'/>") }
                }
            }
            for try await parts in group { #expect(parts.map(\.size) == Array(0..<50)) }
        }
    }
}
