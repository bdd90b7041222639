import FeedConfiguration
import FeedModel
import Foundation
import Testing
import XMLStream
@testable import FeedParsing
@testable import TributaryEngine

/// CSV and JSON Lines are told as if they were XML; see ``CSVReader`` and ``JSONLinesReader``.
@Suite struct CSVReaderTests {
    private final class MarkupRecorder: XMLStreamHandler {
        var markup = ""
        override func didStartElement(in stream: XMLStreamParser) { markup += "<\(stream.name.qualified)>" }
        override func didEndElement(in stream: XMLStreamParser) {
            markup += String(decoding: stream.textBytes, as: UTF8.self) + "</\(stream.name.qualified)>"
        }
    }

    private static let sizes = [1, 2, 3, 7, 4096]

    /// A body as a parser is told of it, handed over in pieces of this many bytes.
    private func read(
        _ body: [UInt8], type: String = "text/csv", pieces: Int = .max, format: BodyFormat? = nil,
        _ dialect: (inout CSVDialect) -> Void = { _ in }
    ) throws -> String {
        let response = FeedResponse(
            requestedURL: "", url: "", status: 200, headers: [("Content-Type", type)],
            fetchedAt: Date(timeIntervalSince1970: 0), validators: Validators())
        var written = BodyDialect(format: format)
        dialect(&written.csv)
        let recorder = MarkupRecorder()
        let reader = try BodyReader(response, [recorder], limit: 1 << 26, dialect: written)
        var rest = body[...]
        while !rest.isEmpty {
            try Array(rest.prefix(pieces)).withUnsafeBytes { try reader.read($0) }
            rest = rest.dropFirst(pieces)
        }
        try reader.finish()
        return recorder.markup
    }

    private func read(
        _ body: String, type: String = "text/csv", pieces: Int = .max, _ dialect: (inout CSVDialect) -> Void = { _ in }
    ) throws -> String { try read(Array(body.utf8), type: type, pieces: pieces, dialect) }

    private func refusal(
        _ body: String, type: String = "text/csv", pieces: Int = .max, _ dialect: (inout CSVDialect) -> Void = { _ in }
    ) -> String {
        do {
            return "no error, but " + (try read(body, type: type, pieces: pieces, dialect))
        } catch { return "\(error)" }
    }

    private static func rows(_ rows: String...) -> String {
        "<csv>" + rows.map { "<row>\($0)</row>" }.joined() + "</csv>"
    }

    /// A login page is no feed, whatever the format that was expected; the error is the one for XML.
    @Test(arguments: [BodyFormat.csv, .json, .jsonl])
    func anHTMLPageIsRecognised(format: BodyFormat) throws {
        let page =
            "<!DOCTYPE html>\n<html><title>Log in</title><body>" + String(repeating: "x", count: 2_000)
        let starts = ["", "\u{FEFF}", "\n  ", "<!-- a --><!-- b -->\n", "<?xml version='1.0'?>\n"]
        for body in starts.map({ $0 + page }) + ["<HTML lang='en'>", "<html>"] {
            for pieces in Self.sizes {
                let error = #expect(throws: XMLStreamError.self) {
                    try read(Array(body.utf8), type: "", pieces: pieces, format: format)
                }
                #expect(
                    error?.code == .html && error?.message == XMLStreamError.htmlPage, "\(String(describing: error))")
            }
        }
        // Some headers are in angle brackets.
        guard format == .csv else { return }
        for pieces in Self.sizes {
            let markup = try read(Array("<html5>,<day>\n1,2\n".utf8), pieces: pieces)
            #expect(markup.hasPrefix("<csv><row>"), "\(markup)")
        }
    }

    @Test(arguments: sizes)
    func fieldsAreElements(pieces: Int) throws {
        let expected = Self.rows("<a>1</a><b>x</b>", "<a>2</a><b></b>")
        for end in ["\n", "\r\n", "\r"] {
            #expect(try read(["a,b", "1,x", "2,"].joined(separator: end), pieces: pieces) == expected)
            #expect(try read(["", "a,b", "", "1,x", "", "2,", ""].joined(separator: end), pieces: pieces) == expected)
        }
        #expect(try read("a,b\n", pieces: pieces) == "<csv></csv>")
        #expect(try read("\u{FEFF}a\né", pieces: pieces) == Self.rows("<a>é</a>"))
    }

    @Test(arguments: sizes)
    func quotedFields(pieces: Int) throws {
        let body = "a,b\n\"1,\"\"x\"\"\",\"\"\n \"two\r\nlines\" ,\"\"\"\"\n5\" pipe,\"a\rb\n\"\r\n"
        #expect(
            try read(body, pieces: pieces)
                == Self.rows("<a>1,\"x\"</a><b></b>", "<a>two\nlines</a><b>\"</b>", "<a>5\" pipe</a><b>a\nb\n</b>"))
    }

    @Test(arguments: sizes)
    func otherDialects(pieces: Int) throws {
        let expected = Self.rows("<a>1,5</a><b>it's</b>")
        #expect(
            try read("# a list\n\"odd\n\na;b\n1,5;'it''s'\n", pieces: pieces) {
                ($0.delimiter, $0.quote, $0.skip) = (UInt8(ascii: ";"), UInt8(ascii: "'"), 3)
            } == expected)
        #expect(try read("a\tb\r\n1,5\tit's\r\n", type: "text/tab-separated-values", pieces: pieces) == expected)
        #expect(
            try read("1,\"x\"\n", pieces: pieces) { ($0.quote, $0.header) = (nil, .none) }
                == Self.rows("<c1>1</c1><c2>\"x\"</c2>"))
        #expect(try read("1,x", pieces: pieces) { $0.header = .names(["k", "v"]) } == Self.rows("<k>1</k><v>x</v>"))
        #expect(try read("", pieces: pieces) { $0.header = .names(["k", "v"]) } == "<csv></csv>")
    }

    @Test func namesAreTheHeaders() throws {
        #expect(
            try read(" Price (€) ,x,,x,\"a\nb\",x_2,c3\n1,2,3,4,5,6,7\n")
                == Self.rows(
                    "<Price (€)>1</Price (€)><x>2</x><c3>3</c3><x_2>4</x_2><a\nb>5</a\nb><x_2_2>6</x_2_2><c3_2>7</c3_2>"
                ))
    }

    @Test(arguments: sizes)
    func encodings(pieces: Int) throws {
        let expected = Self.rows("<n>Größe €</n>")
        func bytes(_ encoding: String.Encoding) throws -> [UInt8] {
            Array(try #require("n\nGröße €\n".data(using: encoding)))
        }
        let latin = try bytes(.windowsCP1252)
        #expect(try read(latin, pieces: pieces) { $0.encoding = "windows-1252" } == expected)
        #expect(try read(latin, type: "text/csv; charset=windows-1252", pieces: pieces) == expected)
        #expect(try read([0xFF, 0xFE] + bytes(.utf16LittleEndian), pieces: pieces) == expected)
        #expect(try read([0xFE, 0xFF] + bytes(.utf16BigEndian), pieces: pieces) { $0.encoding = "UTF-8" } == expected)
        #expect(try read(bytes(.utf16LittleEndian), pieces: pieces) { $0.encoding = "UTF-16LE" } == expected)
        #expect(
            try read([0x6E, 0x0A, 0x47, 0xF6], pieces: pieces) { $0.encoding = "ISO-8859-1" } == Self.rows("<n>Gö</n>"))
        func problem(_ bytes: [UInt8], _ encoding: String? = nil) -> String {
            do { return try read(bytes, pieces: pieces) { $0.encoding = encoding } } catch { return "\(error)" }
        }
        #expect(
            problem(latin)
                == "line 2 of the CSV body: the bytes are not valid UTF-8; name the encoding that the body is in, such as csv = { encoding = \"windows-1252\" }"
        )
        #expect(problem(try bytes(.utf16LittleEndian)).contains("line 1 of the CSV body: there is a NUL character"))
        #expect(problem([0x6E, 0x0A, 0xC3]).contains("line 2 of the CSV body: the bytes are not valid UTF-8"))
        #expect(problem(latin, "none").contains("the encoding 'none' is not known"))
        #expect(problem(latin, "UTF-8//IGNORE").contains("is not known"))
    }

    /// iconv holds a letter back that a mark may follow, and gives it only when it is told of the end.
    @Test(arguments: sizes, ["windows-1258", "CP1258", "TCVN", "TCVN-5712"])
    func theLastLetterIsKept(pieces: Int, encoding: String) throws {
        let rows = Self.rows("<n>Anna</n>", "<n>Anna</n>")
        #expect(try read("n\nAnna\nAnna", pieces: pieces) { $0.encoding = encoding } == rows)
        #expect(try read("n\nAnna\n\"Anna\"", pieces: pieces) { $0.encoding = encoding } == rows)
    }

    @Test(arguments: sizes)
    func whatIsNoCSVIsNamed(pieces: Int) {
        #expect(
            refusal("a,b\n1,2\n3\n", pieces: pieces)
                == "line 3 of the CSV body: there is 1 field, not the 2 of the header; a delimiter or a line break within a field must be in quotes"
        )
        #expect(
            refusal("a,b\n\"1\n\",2\n3,4,5\n", pieces: pieces).contains(
                "line 4 of the CSV body: there are more fields than the 2"))
        #expect(
            refusal("a,b\n\"1\" x,2\n", pieces: pieces).contains(
                "line 2 of the CSV body: a quoted field continues after"))
        // A quote that is not closed: the line is that of its field, and not that of the next quote.
        #expect(
            refusal("a,b\n\"1,2\n3,4\n\"5\",6\n", pieces: pieces).contains(
                "line 2 of the CSV body: a quoted field continues after its closing quote, on line 4; close the field"))
        #expect(
            refusal("a\n\"1\n\n", pieces: pieces).contains(
                "the body ends within a quoted field, which begins on line 2"))
        #expect(refusal("", pieces: pieces).contains("the body has no header"))
        #expect(refusal("a\n", pieces: pieces) { $0.skip = 2 }.contains("ends before line 3"))
        #expect(refusal("1,2\n3\n", pieces: pieces) { $0.header = .none }.contains("not the 2 of the first line"))
        #expect(refusal("1\n", pieces: pieces) { $0.header = .names(["a", "b"]) }.contains("that 'header' names"))
    }

    @Test func limits() {
        let field = String(repeating: "x", count: CSVReader.fieldLimit + 1)
        #expect(
            refusal("a\n\"\(field)\"\n", pieces: 64 << 10).contains(
                "line 2 of the CSV body: a field is longer than 16 MiB"))
        let columns = (0...CSVColumns.limit).map { "c\($0)" }.joined(separator: ",")
        #expect(refusal(columns + "\n").contains("there are more than 5000 columns"))
        #expect(refusal(String(repeating: "n", count: 1001) + "\n").contains("longer than 1000 bytes"))
    }

    // MARK: - JSON Lines

    @Test(arguments: sizes)
    func linesOfJSON(pieces: Int) throws {
        let type = "application/x-ndjson"
        let expected = "<jsonl><row><a>1</a><b>x</b></row><row><item>1</item></row><row>5</row></jsonl>"
        let body = "{\"a\": 1, \"b\": \"x\"}\n\n[1]\r\n5"
        #expect(try read(body, type: type, pieces: pieces) == expected)
        #expect(try read("\u{FEFF}" + body + "\n", type: type, pieces: pieces) == expected)
        #expect(
            try read(Array(body.utf8), type: "text/plain", pieces: pieces, format: .jsonl) == expected)
        #expect(try read("", type: type) == "<jsonl></jsonl>")
        #expect(
            refusal("{\"a\": 1}\n{\"a\":\n1}", type: type, pieces: pieces)
                == "line 2 of the JSON body: the line ends within its value")
        #expect(refusal("1\n2\n{\"a\" 1}", type: type, pieces: pieces).contains("line 3 of the JSON body"))
        #expect(refusal("1\n{\"a\": \"x", type: type, pieces: pieces).contains("line 2 of the JSON body"))
    }

    // MARK: - The choice

    @Test func theDeclaredFormatCounts() throws {
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        #expect(try read(bytes("a\n1"), type: "text/plain", format: .csv) == Self.rows("<a>1</a>"))
        #expect(try read(bytes("[1]"), type: "text/csv", format: .json) == "<json><item>1</item></json>")
        #expect(try read(bytes("<a>1</a>"), type: "application/json", format: .xml) == "<a>1</a>")
        let refusal = refusal("a,b\n1,2\n", type: "text/plain")
        #expect(refusal.contains("is neither XML nor JSON; if it is CSV, set format = \"csv\""), "\(refusal)")
    }
}
