import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import Testing
import XMLStream
@testable import FeedParsing
@testable import TributaryEngine

/// JSON is told as if it were XML; see ``JSONReader`` for what becomes of what.
@Suite struct JSONReaderTests {
    private final class MarkupRecorder: XMLStreamHandler {
        var markup = ""
        override func didStartElement(in stream: XMLStreamParser) { markup += "<\(stream.name.qualified)>" }
        override func didEndElement(in stream: XMLStreamParser) {
            markup += String(decoding: stream.textBytes, as: UTF8.self) + "</\(stream.name.qualified)>"
        }
    }

    /// A body as a parser is told of it, handed over in pieces of this many bytes.
    private func read(_ body: [UInt8], type: String? = nil, pieces: Int = .max) throws -> String {
        let response = FeedResponse(
            requestedURL: "", url: "", status: 200, headers: type.map { [("Content-Type", $0)] } ?? [],
            fetchedAt: Date(timeIntervalSince1970: 0), validators: Validators())
        let recorder = MarkupRecorder()
        let reader = try BodyReader(response, [recorder], limit: 1 << 22)
        var rest = body[...]
        while !rest.isEmpty {
            try Array(rest.prefix(pieces)).withUnsafeBytes { try reader.read($0) }
            rest = rest.dropFirst(pieces)
        }
        try reader.finish()
        return recorder.markup
    }

    private func read(_ body: String, type: String? = nil, pieces: Int = .max) throws -> String {
        try read(Array(body.utf8), type: type, pieces: pieces)
    }

    private func refusal(_ body: [UInt8], type: String? = nil, pieces: Int = .max) -> String {
        do { return "no error, but " + (try read(body, type: type, pieces: pieces)) } catch { return "\(error)" }
    }

    @Test(arguments: [1, 2, 5, 4096])
    func membersArraysAndItemsAreElements(pieces: Int) throws {
        #expect(
            try read(
                #"{"a": 1, "b": [true, null, {"c": "x"}], "d": [[1, -2.5e3], []], "a": ""}"#, pieces: pieces)
                == "<json><a>1</a><b>true</b><b><c>x</c></b><d><item>1</item><item>-2.5e3</item></d><d></d><a></a></json>"
        )
        #expect(try read("[1, [2]]", pieces: pieces) == "<json><item>1</item><item><item>2</item></item></json>")
        #expect(try read("null", type: "application/json", pieces: pieces) == "<json></json>")
        #expect(try read("\"é\"", type: "application/json", pieces: pieces) == "<json>é</json>")
    }

    /// Whatever the type says, no XML begins with a brace or a bracket.
    @Test(arguments: [
        nil, "text/html", "text/plain; charset=utf-8", "application/octet-stream", "text/xml", "application/json",
    ])
    func theFirstCharacterDecides(type: String?) throws {
        for pieces in [1, 3, 4096] {
            #expect(try read(" \n\t{\"a\": 1}", type: type, pieces: pieces) == "<json><a>1</a></json>")
            #expect(
                try read([0xEF, 0xBB, 0xBF] + Array("\r\n[1]".utf8), type: type, pieces: pieces)
                    == "<json><item>1</item></json>")
        }
        if type != "application/json" {
            #expect(try read("<json><a>1</a></json>", type: type, pieces: 1) == "<json><a>1</a></json>")
            #expect(try read([0xEF, 0xBB, 0xBF] + Array("<a/>".utf8), type: type, pieces: 2) == "<a></a>")
        }
    }

    @Test(arguments: [
        ("area_m²", "area_m_"), ("a b", "a_b"), ("1x", "_1x"), (":", "_"), ("a:b", "a_b"), ("é", "é"), ("", "_"),
        ("-", "_-"), ("³", "_"), ("e\u{301}", "e\u{301}"), ("\u{301}e", "_\u{301}e"), ("x😀", "x😀"), ("名前", "名前"),
        ("½", "_"),
        ("<&\\\"", "___"), ("\\u0000a", "\u{FFFD}a"), ("٣", "٣"), ("a·b", "a·b"), ("×", "_"),
    ])
    func namesBecomeNamesOfXML(name: String, element: String) throws {
        #expect(try read("{\"\(name)\": 1}") == "<json><\(element)>1</\(element)></json>")
    }

    @Test(arguments: [1, 4096])
    func whatXMLCannotHoldIsReplaced(pieces: Int) throws {
        let text =
            #"\u0000|\uFFFE|\uFFFF|\ud800|\udc00|\ud800x|\ud83d\ude00|\ud800\ud83d\ude00|\u0007|\t|\u007f|\ufffd"#
        #expect(
            try read("[\"\(text)\"]", pieces: pieces)
                == "<json><item>\u{FFFD}|\u{FFFD}|\u{FFFD}|\u{FFFD}|\u{FFFD}|\u{FFFD}x|😀|\u{FFFD}😀|\u{FFFD}|\t|\u{7F}|\u{FFFD}</item></json>"
        )
        #expect(
            try read(Array("[\"".utf8) + [0xEF, 0xBF, 0xBF, 0x01] + Array("\"]".utf8), pieces: pieces)
                == "<json><item>\u{FFFD}\u{FFFD}</item></json>")
        #expect(
            try read(Array("[\"a".utf8) + [0xEF, 0xBF, 0xBE] + Array("Ａb\"]".utf8), pieces: pieces)
                == "<json><item>a\u{FFFD}Ａb</item></json>")
    }

    @Test(arguments: [1, 4096])
    func whatIsNotJSONIsNamed(pieces: Int) throws {
        let utf16 = Array("[1]".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(refusal([0xFF, 0xFE] + utf16, pieces: pieces).contains("JSON in UTF-16"))
        #expect(refusal(utf16, pieces: pieces).contains("JSON in UTF-16"))
        #expect(refusal([0] + utf16, type: "application/json", pieces: pieces).contains("JSON in UTF-16"))
        for bytes in [[0xE9], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]] {
            let body = Array("[\"a".utf8) + bytes + Array("\"]".utf8)
            #expect(refusal(body, pieces: pieces).contains("line 1 of the JSON body: a string is not valid UTF-8"))
        }
        #expect(
            refusal(Array("{\"a\": 1,\n}".utf8), pieces: pieces).contains(
                "line 2 of the JSON body: '}' is not expected"))
        #expect(refusal(Array("{\"a\": é}".utf8), pieces: pieces).contains("the byte 0xC3 is not expected"))
        // A character that breaks off behind the document's value.
        #expect(refusal(Array("[1]".utf8) + [0xE2], pieces: pieces).contains("not valid UTF-8"))
        #expect(refusal(Array("[tru]".utf8), pieces: pieces).contains("'tru' is not a value"))
        for (body, byte) in [("[1,]", "]"), ("[,1]", ","), ("{\"a\":}", "}")] {
            #expect(refusal(Array(body.utf8), pieces: pieces).contains("'\(byte)' is not expected"))
        }
        // RFC 8259, section 6.
        for number in ["01", "-01", "-.5", ".5", "1.", "1.e5", "+1", "-", "1e", "0x1", "--1", "1.5.2", "00"] {
            #expect(
                refusal(Array("[\(number)]".utf8), pieces: pieces).hasPrefix("line 1 of the JSON body: "), "\(number)")
        }
        #expect(refusal(Array("[1".utf8), pieces: pieces).contains("ends within its value"))
        #expect(
            refusal(Array(("{\"" + String(repeating: "n", count: 1001)).utf8), pieces: pieces).contains(
                "longer than 1000 bytes"))
        #expect(refusal(Array(String(repeating: "[", count: 600).utf8), pieces: pieces).contains("more than 512 deep"))
    }

    @Test(arguments: [1, 3, 4096])
    func membersMayComeInAnyOrder(pieces: Int) throws {
        let body = """
            [{"a": 1, "b": "x", "c": ""}, {"b": "y", "a": 2}, {"c": "z", "d": true, "a": 3}, {"b": "\\u00e9"}]
            """
        #expect(
            try read(Array(body.utf8), pieces: pieces)
                == "<json><item><a>1</a><b>x</b><c></c></item><item><b>y</b><a>2</a></item>"
                + "<item><c>z</c><d>true</d><a>3</a></item><item><b>é</b></item></json>")
    }

    /// The line of a literal is that on which it stands, also where a line end follows it.
    @Test(arguments: [1, 4096])
    func aWrongLiteralIsFoundOnItsLine(pieces: Int) {
        #expect(
            refusal(Array("[1,\ntru\n]".utf8), pieces: pieces).contains(
                "line 2 of the JSON body: 'tru' is not a value"))
    }

    @Test func manyNamesAreRefusedAsInXML() {
        let members = (0..<10_001).map { "\"n\($0)\": 1" }.joined(separator: ",")
        #expect(refusal(Array("{\(members)}".utf8)).contains("more than 10000 different names"))
    }
}
