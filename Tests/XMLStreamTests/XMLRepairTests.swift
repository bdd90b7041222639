import Testing

@testable import XMLStream

/// What ``XMLRepair`` makes of ill-formed documents, in pieces of any size.
@Suite struct XMLRepairTests {
    private static func mended(
        _ document: [UInt8], _ faults: Set<XMLRepair.Fault>, pieces: Int, charset: String? = nil
    ) throws -> (bytes: [UInt8], counts: XMLRepair.Counts) {
        let repair = XMLRepair(faults, charset: charset)
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: document.count, by: pieces) {
            try Array(document[start..<min(document.count, start + pieces)]).withUnsafeBytes {
                try repair.read($0) { bytes += $0 }
            }
        }
        try repair.finish { bytes += $0 }
        return (bytes, repair.counts)
    }

    private static func isWellFormed(_ document: [UInt8], charset: String? = nil) -> Bool {
        let handler = XMLStreamHandler()
        let parser = XMLStreamParser(charset: charset, handler: handler)
        return withExtendedLifetime(handler) {
            (try? document.withUnsafeBytes { try parser.parse($0) }) != nil && (try? parser.finish()) != nil
        }
    }

    /// An ill-formed document, what it becomes, and how many characters, entities and ampersands are mended.
    struct Example: Sendable {
        var document: String
        var expected: String
        var counts: [Int]

        init(_ document: String, _ expected: String, _ counts: [Int]) {
            (self.document, self.expected, self.counts) = (document, expected, counts)
        }
    }

    private static let examples = [
        Example("<a>Fish & Chips</a>", "<a>Fish &amp; Chips</a>", [0, 0, 1]),
        Example("<a>AT&T; R&D &copy 1</a>", "<a>AT&amp;T; R&amp;D &amp;copy 1</a>", [0, 0, 3]),
        Example("<a>&&amp;&#;&#x;&#12</a>", "<a>&amp;&amp;&amp;#;&amp;#x;&amp;#12</a>", [0, 0, 4]),
        Example("<a href='?a=1&b=2'/>", "<a href='?a=1&amp;b=2'/>", [0, 0, 1]),
        Example("<a t=\"x<y & 'z'\">b</a>", "<a t=\"x&lt;y &amp; 'z'\">b</a>", [0, 0, 2]),
        Example("<a>5 < 6, x<3 <> <- <<b/></a>", "<a>5 &lt; 6, x&lt;3 &lt;> &lt;- &lt;<b/></a>", [0, 0, 5]),
        Example("<a>Ann <ann@example.org></a>", "<a>Ann &lt;ann@example.org></a>", [0, 0, 1]),
        Example("<a></ b><!x><!-</a>", "<a>&lt;/ b>&lt;!x>&lt;!-</a>", [0, 0, 3]),
        Example("<a>&nbsp;&eacute;&Alpha;&alpha;</a>", "<a>&#160;&#233;&#913;&#945;</a>", [0, 4, 0]),
        Example("<a>x\u{B}y\u{1}z\u{0}</a>", "<a>x yz</a>", [3, 0, 0]),
        Example("<a>&#0;&#x1F;&#xD800;&#x41;&#65;</a>", "<a>&#x41;&#65;</a>", [3, 0, 0]),
        Example("<a>\u{FFFE}\u{FFFD}\u{FFFF}é\u{D7FF}</a>", "<a>\u{FFFD}é\u{D7FF}</a>", [2, 0, 0]),
        Example("<a><![CDATA[&\u{1} <b]]]>&</a>", "<a><![CDATA[& <b]]]>&amp;</a>", [1, 0, 1]),
    ]

    @Test(arguments: examples) func illFormedDocuments(example: Example) throws {
        let all = Set(XMLRepair.Fault.allCases)
        for pieces in [1, 2, 3, 4, 5, 7, 1_000] {
            let (bytes, counts) = try Self.mended(Array(example.document.utf8), all, pieces: pieces)
            #expect(String(decoding: bytes, as: UTF8.self) == example.expected, "in pieces of \(pieces)")
            #expect(XMLRepair.Fault.allCases.map { counts[$0] ?? 0 } == example.counts)
        }
        #expect(!Self.isWellFormed(Array(example.document.utf8)))
        #expect(Self.isWellFormed(Array(example.expected.utf8)))
    }

    @Test(arguments: [
        "<a>&amp;&lt;&gt;&quot;&apos;&#160;</a>", "<a><![CDATA[ & <b &nbsp; ]]]]></a>",
        "<a><!-- & < &nbsp; - -></a> --></a>",
        "<?xml version=\"1.0\"?><?go & < &nbsp; ?><a b='\"' c=\"'>\">d</a>", "<é:ü xmlns:é='u'>é</é:ü>",
        "<!DOCTYPE a [<!ENTITY nbsp '&#32;'><!ENTITY b \"]>&nbsp;\">]><a>&nbsp;&b;</a>",
        "<!DOCTYPE a PUBLIC '-//x' 'http://example.org/[a]'><a>\r\n\t&#9;</a>",
        "<!DOCTYPE r [<!-- don't ]> --><!ELEMENT r ANY>]><r><n><![CDATA[it's ]> & b < c]]></n></r>",
        "<!DOCTYPE r [<?x don't ]> ?>]><r><![CDATA[it's ]> & b]]></r>",
    ])
    func whatIsWellFormedStays(document: String) throws {
        for pieces in [1, 2, 3, 5, 1_000] {
            let (bytes, counts) = try Self.mended(
                Array(document.utf8), Set(XMLRepair.Fault.allCases), pieces: pieces)
            #expect(String(decoding: bytes, as: UTF8.self) == document)
            #expect(counts.isEmpty)
        }
    }

    /// Only what is asked for is mended.
    @Test func oneFaultAtATime() throws {
        let document = Array("<a>&nbsp; & \u{1}<</a>".utf8)
        func mended(_ fault: XMLRepair.Fault) throws -> String {
            String(decoding: try Self.mended(document, [fault], pieces: 3).bytes, as: UTF8.self)
        }
        #expect(try mended(.characters) == "<a>&nbsp; & <</a>")
        #expect(try mended(.entities) == "<a>&#160; & \u{1}<</a>")
        #expect(try mended(.ampersands) == "<a>&nbsp; &amp; \u{1}&lt;</a>")
    }

    @Test(arguments: ["<a>&", "<a>&am", "<a><", "<a><b", "<a><!--", "<a b='", "<a>\u{FFFD}", "<a>x", "<", "", "<a></a"])
    func aDocumentThatBreaksOffStillDoes(document: String) throws {
        let (bytes, counts) = try Self.mended(Array(document.utf8), Set(XMLRepair.Fault.allCases), pieces: 2)
        #expect(String(decoding: bytes, as: UTF8.self) == document)
        #expect(counts.isEmpty && !Self.isWellFormed(bytes))
    }

    /// Bytes of other encodings may look like markup.
    @Test(arguments: [nil, "utf-16"]) func utf16IsLeftAlone(charset: String?) throws {
        let text = Array("\u{FEFF}<a> & </a>".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        for document in [text, Array(text.dropFirst(2))] {
            let found = try Self.mended(document, Set(XMLRepair.Fault.allCases), pieces: 3, charset: charset)
            #expect(found.bytes == document && found.counts.isEmpty)
        }
    }

    @Test func theEncodingDecides() throws {
        func mended(_ encoding: String, charset: String? = nil) throws -> [UInt8] {
            let document = Array("<?xml version='1.0' encoding='\(encoding)'?><a>& ".utf8) + [0xED, 0xA0, 0x80]
            let (bytes, _) = try Self.mended(
                document, Set(XMLRepair.Fault.allCases), pieces: 3, charset: charset)
            return Array(bytes.drop { $0 != UInt8(ascii: "&") })
        }
        // A surrogate is one in UTF-8 only.
        #expect(try mended("UTF-8") == Array("&amp; ".utf8))
        #expect(try mended("windows-1252") == Array("&amp; ".utf8) + [0xED, 0xA0, 0x80])
        #expect(try mended("ISO-2022-JP") == Array("& ".utf8) + [0xED, 0xA0, 0x80])
        #expect(try mended("ISO-2022-JP", charset: "utf-8") == Array("&amp; ".utf8))
    }
}
