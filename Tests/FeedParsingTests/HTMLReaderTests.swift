import FeedConfiguration
import FeedModel
import Foundation
import Testing
@testable import FeedParsing
@testable import TributaryEngine
@testable import XMLStream

/// Pages in HTML are told as if they were XML; see ``HTMLStreamParser``.
@Suite struct HTMLReaderTests {
    private final class MarkupRecorder: XMLStreamHandler {
        var markup = ""
        var lines: [Int] = []
        var count = 0
        var depth = 0
        private let isKept: Bool

        init(isKept: Bool) { self.isKept = isKept }

        override func didStartElement(in stream: XMLStreamParser) {
            count += 1
            depth = max(depth, stream.depth)
            guard isKept else { return }
            let attributes = stream.attributesOfElement.all.map { " \($0.name.qualified)='\($0.value)'" }.joined()
            markup += "<\(stream.name.qualified)\(attributes)>"
            lines.append(stream.line)
        }

        override func didEndElement(in stream: XMLStreamParser) {
            if isKept { markup += String(decoding: stream.textBytes, as: UTF8.self) + "</\(stream.name.qualified)>" }
        }
    }

    private static let sizes = [1, 2, 3, 7, 4096, .max]

    /// What is told of a page that is handed over in pieces of this many bytes.
    private func record(
        _ body: [UInt8], charset: String? = nil, pieces: Int = .max, isKept: Bool = true
    ) throws -> MarkupRecorder {
        let type = "text/html" + (charset.map { "; charset=\($0)" } ?? "")
        let response = FeedResponse(
            requestedURL: "", url: "", status: 200, headers: [("Content-Type", type)],
            fetchedAt: Date(timeIntervalSince1970: 0), validators: Validators())
        let recorder = MarkupRecorder(isKept: isKept)
        let reader = try BodyReader(response, [recorder], limit: 1 << 28, dialect: BodyDialect(format: .html))
        var rest = body[...]
        while !rest.isEmpty {
            try Array(rest.prefix(pieces)).withUnsafeBytes { try reader.read($0) }
            rest = rest.dropFirst(pieces)
        }
        try reader.finish()
        return recorder
    }

    private func error(_ body: String) -> XMLStreamError? {
        #expect(throws: XMLStreamError.self) { try record(Array(body.utf8), isKept: false) }
    }

    private static func page(_ body: String) -> String { "<html><body>\(body)</body></html>" }

    private static let repaired: [(page: String, told: String)] = [
        // Names are in lower case, and end tags may be missing.
        (
            "<TABLE Class='A b'><TR><TD>x<td>y<tr><td>1 &amp; 2<br>z</table>",
            page(
                "<table class='A b'><tr><td>x</td><td>y</td></tr><tr><td><br></br>1 & 2z</td></tr></table>")
        ),
        ("<p>a<p>b<img src=x.png alt><hr/>", page("<p>a</p><p><img src='x.png' alt=''></img>b</p><hr></hr>")),
        // Elements that are open within a cell, an entry or a paragraph end with it.
        (
            "<table><tr><td><b>1<td><i>2<tr><td><span><b>3</table><p><b>q<p>r",
            page(
                "<table><tr><td><b>1</b></td><td><i>2</i></td></tr><tr><td><span><b>3</b></span></td></tr></table>"
                    + "<p><b>q</b></p><p>r</p>")
        ),
        (
            "<ul><li><b>x<li>y<ul><li>n</ul></ul><dl><dt>a<dd><b>b<dt>c</dl>",
            page(
                "<ul><li><b>x</b></li><li><ul><li>n</li></ul>y</li></ul><dl><dt>a</dt><dd><b>b</b></dd><dt>c</dt></dl>")
        ),
        // A table within a cell is its own.
        (
            "<table><tr><td><table><tr><td>i<td>j</table><td>k</table>",
            page("<table><tr><td><table><tr><td>i</td><td>j</td></tr></table></td><td>k</td></tr></table>")
        ),
        // End tags that nothing opened, and tags that are not complete.
        ("<h1>x</h1></div></span></table>y", page("<h1>x</h1>y")),
        ("<a <b>x</b>y</a>", page("<a>xy</a>")),
        ("<p>cut <!-- x", page("<p>cut </p>")),
        // A comment ends with the first `-->`, wherever a piece ends.
        ("<p>a<!-->b-->c", page("<p>ac</p>")), ("<p>a<!--->b-->c", page("<p>ac</p>")),
        // Scripts are text.
        (
            "<script>if (a<b) write('<p>x</p>')</script><p>ok",
            "<html><head><script>if (a<b) write('<p>x</p>')</script></head><body><p>ok</p></body></html>"
        ),
        // What follows the end belongs to the body.
        (
            "<html><body class=a></body></html><p>1</p><html><body class=b><p>2",
            "<html><body class='a'><p>1</p><p>2</p></body></html>"
        ),
        ("Service unavailable", page("<p>Service unavailable</p>")),
        // Line ends, control characters, and what is no character.
        (
            "<p>a\u{0}b\u{1}c\u{C}d\r\ne\rf\n&nbsp;&eacute;\u{FFFF}&#x20AC;",
            page("<p>abc d\ne\nf\n\u{A0}é\u{FFFD}€</p>")
        ),
        ("<a title='&lt;&amp;amp; x=1'>", page("<a title='<&amp; x=1'></a>")),
        (
            "<div a=1 a=2 data-x x:y=2><svg:rect/><my-tag>1</my-tag>",
            page("<div a='1' data-x='' x:y='2'><svg:rect></svg:rect><my-tag>1</my-tag></div>")
        ),
    ]

    @Test(arguments: repaired.indices) func aPageIsRepaired(_ index: Int) throws {
        let (page, told) = Self.repaired[index]
        for pieces in Self.sizes {
            #expect(try record(Array(page.utf8), pieces: pieces).markup == told, "in pieces of \(pieces)")
        }
        // libxml2 is given no fewer than 4 KiB: they end at each place of the page.
        for length in (4096 - page.utf8.count)..<4096 {
            let padding = "<!--" + String(repeating: "x", count: length - 7) + "-->"
            #expect(try record(Array((padding + page).utf8), pieces: 1).markup == told, "behind \(length) bytes")
        }
    }

    private static let encoded: [(bytes: [UInt8], charset: String?, text: String)] = [
        // The mark, then the transport, then the page.
        ([0xEF, 0xBB, 0xBF] + Array("<meta charset=iso-8859-1><p>ü".utf8), "windows-1251", "ü"),
        ([0xFF, 0xFE] + "<p>ü".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, "utf-8", "ü"),
        (Array("<meta charset=utf-8><p>".utf8) + [0xCF, 0xF0], "windows-1251", "Пр"),
        (Array("<!-- <meta charset=utf-8> --><META Charset='windows-1251'><p>".utf8) + [0xCF, 0xF0], nil, "Пр"),
        (
            Array("<meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'><p>".utf8)
                + [0x83, 0x65, 0x83, 0x58], nil, "テス"
        ),
        (Array("<?xml version='1.0' encoding='ISO-8859-2'?><p>".utf8) + [0xB1], nil, "ą"),
        // Names that mean more than they say, and names that mean nothing.
        (Array("<p>".utf8) + [0x80], "ISO-8859-1", "€"),
        (Array("<meta charset=nonsense><p>ü".utf8), "none", "ü"),
        // What is not declared. The first character outside ASCII decides.
        (Array("<p>ü ä".utf8), nil, "ü ä"),
        (Array("<p>".utf8) + [0xE4, 0x80], nil, "ä€"),
        // Bytes that are invalid.
        (Array("<p>ü".utf8) + [0xE4, 0x20, 0xC3], nil, "ü\u{FFFD} \u{FFFD}"),
    ]

    @Test(arguments: encoded.indices) func theEncodingIsFound(_ index: Int) throws {
        let (bytes, charset, text) = Self.encoded[index]
        for pieces in Self.sizes {
            let markup = try record(bytes, charset: charset, pieces: pieces).markup
            #expect(markup.hasSuffix("<p>\(text)</p></body></html>"), "\(markup) in pieces of \(pieces)")
        }
    }

    @Test func linesAreCounted() throws {
        let page = "<!DOCTYPE html>\r\n<html>\n<body>\n\n<p>a</p>\n<!--\n-->\n<p>b</p>\n"
        for pieces in Self.sizes {
            #expect(try record(Array(page.utf8), pieces: pieces).lines == [2, 3, 5, 8])
        }
    }

    @Test func aHundredThousandRowsAreRead() throws {
        let row = "<tr class='r'><td>1</td><td><a href='x'>name</a><td><b>3.5\n"
        let page = Array(("<table>" + String(repeating: row, count: 100_000) + "</table>").utf8)
        for pieces in [1_000, .max] {
            let recorder = try record(page, pieces: pieces, isKept: false)
            #expect(recorder.count == 600_003 && recorder.depth == 6)
        }
    }

    /// Windows-1252 grows as UTF-8, and what is pushed at once is cut behind a tag.
    @Test func aLargePageIsCutBetweenTags() throws {
        let row = Array("<tr><td title='".utf8) + [0xE4, 0xF6] + Array(" > '>x<script>a</script>".utf8)
        let page = Array("<meta charset=windows-1252><table>".utf8) + (0..<20_000).flatMap { _ in row }
        for pieces in [61_000, .max] {
            let recorder = try record(page, pieces: pieces)
            #expect(recorder.count == 5 + 20_000 * 3)
            let told = "<td title='äö > '><script>a</script>x</td>"
            #expect(recorder.markup.components(separatedBy: told).count == 20_001)
        }
    }

    @Test func theLimitsAreThoseOfXML() {
        let depth = error(String(repeating: "<div>", count: 100_000))
        #expect(depth?.code == .limit && depth?.message == "elements are nested more than 1000 deep")
        let attributes = "an element has more than 2000 attributes"
        for count in [2_001, 400_000] {
            let tag = error("<p " + (0..<count).map { "a\($0) " }.joined() + ">")
            #expect(tag?.code == .limit && tag?.message == attributes)
        }
        let text = error("<p>" + String(repeating: "x", count: 17 << 20))
        #expect(text?.code == .limit && text?.message == "a tag, a comment or a text is longer than 16777216 bytes")
        let texts = error("<p>" + String(repeating: "<b></b>" + String(repeating: "x", count: 1 << 20), count: 17))
        let open = "the text of the open elements is longer than 16777216 bytes"
        #expect(texts?.code == .limit && texts?.message == open)
        let names = error((0..<20_000).map { "<a\($0)>x</a\($0)>" }.joined())
        #expect(names?.code == .limit && names?.message == "there are more than 10000 different names")
    }

    @Test func aTagThatIsNotCompleteIsCounted() {
        var whole = UnreadTag()
        let tag = Array("<a b=1 c='x y=1' d e = \"f\" g=/h/i j/>".utf8)
        tag.withUnsafeBufferPointer { whole.read($0) }
        #expect(whole.attributes == 6)
        var pieces = UnreadTag()
        for end in 1...tag.count { tag[..<end].withUnsafeBufferPointer { pieces.read($0) } }
        #expect(pieces.attributes == 6)
    }

    @Test func aBodyWithoutAPageIsEmpty() {
        #expect(error("")?.message == "the body is empty (0 bytes)")
        let blank = error(" \n\t ")
        #expect(blank?.code == .empty && blank?.message == "there is no HTML in the body")
    }

    /// A page is in HTML by declaration only.
    @Test func aPageIsNeverGuessed() throws {
        for type in ["text/html", "", "application/xhtml+xml"] {
            let response = FeedResponse(
                requestedURL: "https://e.org/a.html", url: "https://e.org/a.html", status: 200,
                headers: [("Content-Type", type)], fetchedAt: Date(timeIntervalSince1970: 0), validators: Validators())
            let reader = try BodyReader(response, [], limit: 1 << 20)
            let page = Array("<!DOCTYPE html>\n<html><body>Log in</body></html>".utf8)
            let error = #expect(throws: XMLStreamError.self) {
                try page.withUnsafeBytes { try reader.read($0) }
                try reader.finish()
            }
            #expect(error?.code == .html && error?.message.contains("format = \"html\"") == true)
        }
    }
}
