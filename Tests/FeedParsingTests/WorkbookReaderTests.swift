import FeedConfiguration
import FeedFetching
import FeedModel
import Foundation
import TestEngine
import Testing
import XMLStream
@testable import FeedParsing
@testable import TributaryEngine

/// A sheet of a workbook is told as if it were CSV; see ``WorkbookReader``.
@Suite struct WorkbookReaderTests {
    private final class MarkupRecorder: XMLStreamHandler {
        var markup = ""
        var lines: [Int] = []
        override func didStartElement(in stream: XMLStreamParser) {
            markup += "<\(stream.name.qualified)>"
            if stream.depth == 2 { lines.append(stream.line) }
        }
        override func didEndElement(in stream: XMLStreamParser) {
            markup += String(decoding: stream.textBytes, as: UTF8.self) + "</\(stream.name.qualified)>"
        }
    }

    /// Reads a body in pieces of this many bytes.
    private func recorder(
        _ body: [UInt8], pieces: Int = .max, limit: Int = 1 << 26, headers: [(String, String)] = [],
        _ declare: (inout WorkbookDialect) -> Void = { _ in }
    ) throws -> MarkupRecorder {
        let response = FeedResponse(
            requestedURL: "", url: "", status: 200, headers: headers, fetchedAt: Date(timeIntervalSince1970: 0),
            validators: Validators())
        var dialect = BodyDialect(format: .xlsx)
        declare(&dialect.xlsx)
        let recorder = MarkupRecorder()
        let reader = try BodyReader(response, [recorder], limit: limit, dialect: dialect)
        var rest = body[...]
        while !rest.isEmpty {
            try Array(rest.prefix(pieces)).withUnsafeBytes { try reader.read($0) }
            rest = rest.dropFirst(pieces)
        }
        try reader.finish()
        return recorder
    }

    private func read(
        _ workbook: Workbook, _ declare: (inout WorkbookDialect) -> Void = { _ in }
    ) throws -> String { try recorder(workbook.bytes, declare).markup }

    private func refusal(
        _ body: [UInt8], limit: Int = 1 << 26, _ declare: (inout WorkbookDialect) -> Void = { _ in }
    ) -> String {
        do {
            return "no error, but " + (try recorder(body, limit: limit, declare).markup)
        } catch { return "\(error)" }
    }

    private func refusal(_ workbook: Workbook, _ declare: (inout WorkbookDialect) -> Void = { _ in }) -> String {
        refusal(workbook.bytes, declare)
    }

    private static func rows(_ rows: String...) -> String {
        "<csv>" + rows.map { "<row>\($0)</row>" }.joined() + "</csv>"
    }

    /// The texts of one column with these cells, of the styles with these formats.
    private func column(_ cells: [String], formats: [String] = [], isFrom1904: Bool = false) throws -> [String] {
        let rows = cells.enumerated().map { index, cell in
            "<row r=\"\(index + 1)\"><c r=\"A\(index + 1)\"\(cell)</c><c r=\"B\(index + 1)\"><v>0</v></c></row>"
        }
        var workbook = Workbook(rows.joined())
        workbook.formats = formats
        workbook.isFrom1904 = isFrom1904
        let markup = try read(workbook) { $0.header = .names(["a", "b"]) }
        return markup.matches(of: /(?s)<a>(.*?)<\/a>/).map { String($0.1) }
    }

    // MARK: - Rows

    @Test(arguments: [1, 7, 4096, .max]) func rowsBecomeWhatTheyAreInCSV(pieces: Int) throws {
        let workbook = Workbook(Workbook.rows([["sku", " Price ", "", "sku"], ["1", "2"], [], ["", "", "", "x"]]))
        let found = try recorder(workbook.bytes, pieces: pieces)
        #expect(
            found.markup
                == Self.rows(
                    "<sku>1</sku><Price>2</Price><c3></c3><sku_2></sku_2>",
                    "<sku></sku><Price></Price><c3></c3><sku_2>x</sku_2>"))
        // The lines of errors are the numbers of the sheet's rows.
        #expect(found.lines == [2, 4])
    }

    @Test func theHeaderIsTheFirstRowWithAValue() throws {
        let table = Workbook(Workbook.rows([[], ["", ""], ["", "a"], ["1", "2"]]))
        #expect(try read(table) == Self.rows("<c1>1</c1><a>2</a>"))
        let titled = Workbook(Workbook.rows([["Prices of November"], [], ["a", "b"], ["1", "2"]]))
        #expect(try read(titled) { $0.skip = 1 } == Self.rows("<a>1</a><b>2</b>"))
        #expect(try read(titled) { $0.skip = 2 } == Self.rows("<a>1</a><b>2</b>"))
        #expect(
            try read(titled) {
                $0.skip = 3
                $0.header = .names(["x", "y"])
            } == Self.rows("<x>1</x><y>2</y>"))
        #expect(
            refusal(titled) { $0.skip = 9 }
                == "the sheet 'Sheet1' of the workbook: it has no value below row 9, and so no header; see 'xlsx.skip'")
        #expect(refusal(Workbook("")).hasSuffix("it has no value, and so no header"))
        #expect(try read(Workbook("")) { $0.header = .none } == Self.rows())
    }

    @Test func columnsWithoutAHeaderAreNumbered() throws {
        let rows = Workbook.rows([["1"], ["2", "3"]])
        #expect(
            refusal(Workbook(rows)) { $0.header = .none }
                == "the sheet 'Sheet1' of the workbook: cell B2: it is right of the 1 column of the first row; name every "
                + "column by xlsx = { header = [\"…\"] }")
        // The sheet may give its width.
        let wide = Workbook(.init("Sheet1", rows, before: "<dimension ref=\"A1:B2\"/>"))
        #expect(try read(wide) { $0.header = .none } == Self.rows("<c1>1</c1><c2></c2>", "<c1>2</c1><c2>3</c2>"))
        // Columns that only have a style reach to the last one.
        let endless = Workbook(.init("Sheet1", Workbook.rows([["1", "2"]]), before: "<dimension ref=\"A1:XFD9\"/>"))
        #expect(try read(endless) { $0.header = .none } == Self.rows("<c1>1</c1><c2>2</c2>"))
    }

    @Test func aValueBesideTheTableIsRefused() throws {
        let workbook = Workbook(Workbook.rows([["a"], ["1", "note"]]))
        #expect(
            refusal(workbook).hasSuffix(
                "cell B2: it is right of the 1 column of the header, row 1; if that is a title, set xlsx = { skip = 1 }; or "
                    + "name every column, in the sheet or by 'header'"))
        #expect(try read(workbook) { $0.header = .names(["a", "b"]) }.contains("<b>note</b>"))
        let spaces = Workbook(Workbook.rows([["a", " "], ["1", " "]]))
        #expect(try read(spaces) == Self.rows("<a>1</a>"))
        // One with a style alone is not.
        let styled = Workbook(
            Workbook.rows([["a"]]) + "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"F2\" s=\"0\"/></row>")
        #expect(try read(styled) == Self.rows("<a>1</a>"))
    }

    @Test func cellsAndRowsMayHaveNoPlace() throws {
        let cell = { (text: String) in "<c t=\"str\"><v>\(text)</v></c>" }
        let workbook = Workbook("<row>\(cell("a"))\(cell("b"))</row><row>\(cell("1"))\(cell("2"))</row>")
        #expect(try read(workbook) == Self.rows("<a>1</a><b>2</b>"))
        #expect(
            refusal(Workbook("<row r=\"2\"/><row r=\"2\"/>")).hasSuffix(
                "after row 2, a row has the number '2', which is not larger"))
        for place in ["A1", "1", "b1", "AAAA1", "XFE1", ""] {
            let error = refusal(Workbook("<row r=\"1\">\(cell("a"))<c r=\"\(place)\"><v>1</v></c></row>"))
            #expect(error.contains("in row 1, a cell has the place '\(place)'"), "\(error)")
        }
    }

    @Test func columnsHaveALimit() throws {
        let far = "<row r=\"1\"><c r=\"GJI1\"><v>1</v></c></row>"
        #expect(refusal(Workbook(far)).hasSuffix("cell GJI1: there are more than 5000 columns"))
        let long = Workbook(Workbook.rows([[String(repeating: "x", count: 1_001)]]))
        #expect(refusal(long).hasSuffix("cell A1: the name of the column is longer than 1000 bytes"))
    }

    // MARK: - Sheets

    @Test func theSheetIsTheNamedOneOrTheFirst() throws {
        let hidden = Workbook.Sheet("Lists", Workbook.rows([["h"], ["0"]]), attributes: "state=\"hidden\"")
        let first = Workbook.Sheet("Prices &amp; more", Workbook.rows([["a"], ["1"]]))
        let second = Workbook.Sheet("Terms", Workbook.rows([["b"], ["2"]]))
        let workbook = Workbook(hidden, first, second)
        #expect(try read(workbook) == Self.rows("<a>1</a>"))
        #expect(try read(workbook) { $0.sheet = "terms" } == Self.rows("<b>2</b>"))
        #expect(try read(workbook) { $0.sheet = "Lists" } == Self.rows("<h>0</h>"))
        #expect(try read(Workbook(hidden)) == Self.rows("<h>0</h>"))
        #expect(
            refusal(workbook) { $0.sheet = "Term" }
                == "the workbook has no sheet 'Term'; it has 'Lists', 'Prices & more', 'Terms'; did you mean 'Terms'?")
    }

    @Test func otherSheetsHaveNoCells() throws {
        var chart = Workbook.Sheet("Chart", "")
        chart.type = "chartsheet"
        let workbook = Workbook(chart, .init("Data", Workbook.rows([["a"], ["1"]])))
        #expect(try read(workbook) == Self.rows("<a>1</a>"))
        #expect(refusal(workbook) { $0.sheet = "Chart" } == "the sheet 'Chart' has no cells; it is a chartsheet")
        #expect(refusal(Workbook(chart)) == "the workbook has no sheet with cells")
        var outside = Workbook(Workbook.rows([["a"]]))
        outside.others["xl/_rels/workbook.xml.rels"] = outside.members["xl/_rels/workbook.xml.rels"]?.replacing(
            "Target=\"worksheets/sheet1.xml\"", with: "Target=\"http://other.example/a.xml\" TargetMode=\"External\"")
        #expect(
            refusal(outside)
                == "the sheet 'Sheet1' is outside of the workbook, at 'http://other.example/a.xml', which is not fetched"
        )
        var missing = Workbook(Workbook.rows([["a"]]))
        missing.others["xl/_rels/workbook.xml.rels"] = missing.members["xl/_rels/workbook.xml.rels"]?.replacing(
            "sheet1.xml", with: "sheet7.xml")
        #expect(
            refusal(missing)
                == "the sheet 'Sheet1' of the workbook: its part 'xl/worksheets/sheet7.xml' is missing")
    }

    @Test func theStrictFormAndOtherNamesOfPartsAreRead() throws {
        var workbook = Workbook(Workbook.rows([["a"], ["1"]]))
        workbook.isStrict = true
        #expect(try read(workbook) == Self.rows("<a>1</a>"))
        // Parts are found by the relationships, whose names do not distinguish upper and lower case.
        let moved = Zip.archive(
            workbook.members.map { name, content in
                Zip.File(
                    name: name.replacing("sheet1", with: "SHEET1").replacing("xl/w", with: "xl\\w"), content: content)
            })
        #expect(try recorder(moved).markup == Self.rows("<a>1</a>"))
    }

    // MARK: - Texts

    @Test func sharedAndInlineTexts() throws {
        let cells = ["0", "1", "2", "3", "4"].map { " t=\"s\"><v>\($0)</v>" }
        var workbook = Workbook(
            .init("S", cells.enumerated().map { "<row><c\($1)</c></row>" }.joined()))
        workbook.strings = [
            "<t xml:space=\"preserve\"> Tea &lt;b&gt; </t>", "<r><rPr><b/></rPr><t>Ja</t></r><r><t>m</t></r>",
            "<t>東京</t><rPh sb=\"0\" eb=\"2\"><t>トウキョウ</t></rPh>", "<t>a_x000D_\nb_x0041__x005F_x0041_ _x00</t>",
            "<t>_x0001_</t>",
        ]
        // The texts may come behind the sheet.
        for order in [["sheet1", "shared"], ["shared", "sheet1"]] {
            workbook.order = order
            let markup = try read(workbook) { $0.header = .names(["a"]) }
            #expect(
                markup
                    == Self.rows(
                        "<a> Tea <b> </a>", "<a>Jam</a>", "<a>東京</a>", "<a>a\nbA_x0041_ _x00</a>", "<a>\u{FFFD}</a>"))
        }
        let inline = try column([
            " t=\"inlineStr\"><is><r><t>Ja</t></r><r><t>m</t></r><rPh sb=\"0\" eb=\"1\"><t>x</t></rPh></is>",
            " t=\"str\"><f>A1&amp;\"y\"</f><v>Jam_x000A_y</v>", " t=\"str\"><v></v>", " t=\"inlineStr\"><is/>", ">",
            "><f>1+1</f>",
        ])
        #expect(inline == ["Jam", "Jam\ny", "", "", "", ""])
        for number in ["5", "-1", "x", "99999999999"] {
            workbook.sheets[0].rows = "<row><c t=\"s\"><v>\(number)</v></c></row>"
            #expect(
                refusal(workbook).hasSuffix(
                    "cell A1: it refers to the shared text '\(number)' of 5, counted from 0"))
        }
    }

    /// Texts beyond what memory holds are read back from a file, in any order.
    @Test func manySharedTextsAreOnDisk() throws {
        let strings = SharedStrings(folder: NSTemporaryDirectory())
        func text(_ number: Int) -> String { "text \(number) " + String(repeating: "x", count: number % 200) }
        let count = 40_000
        for number in 0..<count {
            var text = number % 1_000 == 7 ? "" : text(number)
            if number == 20_000 { text = String(repeating: "long ", count: 20_000) }
            try text.withUTF8 { try strings.append($0) }
        }
        #expect(strings.count == count)
        var number = 1
        for _ in 0..<20_000 {
            number = (number * 48_271) % count
            var expected = number % 1_000 == 7 ? "" : text(number)
            if number == 20_000 { expected = String(repeating: "long ", count: 20_000) }
            try strings.read(number) { #expect(String(decoding: $0, as: UTF8.self) == expected) }
        }
        for number in [0, 19_999, 20_000, 20_001, count - 1] {
            let expected = number == 20_000 ? String(repeating: "long ", count: 20_000) : text(number)
            try strings.read(number) { #expect(String(decoding: $0, as: UTF8.self) == expected) }
        }
    }

    // MARK: - Numbers, dates, booleans, errors

    @Test func numbersAreWithoutBinaryNoise() throws {
        let numbers: [(written: String, text: String)] = [
            ("1", "1"), ("-12.50", "-12.50"), ("0.10000000000000001", "0.1"), ("0.30000000000000004", "0.3"),
            ("19.989999999999998", "19.99"), ("12345678901234567890", "12345678901234567890"), ("1E-05", "0.00001"),
            ("1.5e+20", "150000000000000000000"), ("1.5E+300", "1.5E300"), ("-2E-30", "-2E-30"), ("+5", "5"),
            ("-1234.5600000000001", "-1234.56"), ("0.000012300000000000001", "0.0000123"), ("1e2", "100"), ("x", "x"),
            ("0x10", "0x10"),
            ("1234567.1234567890123", "1234567.12345679"), ("0.0", "0.0"),
            ("-0.00000000000000000001", "-0.00000000000000000001"),
        ]
        #expect(try column(numbers.map { "><v>\($0.written)</v>" }) == numbers.map(\.text))
        // A style without a date leaves a number one.
        #expect(try column([" s=\"1\"><v>0.25</v>", " s=\"9\"><v>7</v>"], formats: ["0%"]) == ["0.25", "7"])
    }

    @Test func booleansAndErrors() throws {
        #expect(
            try column([
                " t=\"b\"><v>1</v>", " t=\"b\"><v>0</v>", " t=\"e\"><v>#N/A</v>", " t=\"e\"><v>#DIV/0!</v>",
                " t=\"d\"><v>2026-03-01</v>", " t=\"n\"><v>3</v>",
            ]) == ["true", "false", "", "#DIV/0!", "2026-03-01", "3"])
        let error = refusal(Workbook("<row><c t=\"q\"><v>1</v></c></row>"))
        #expect(error.hasSuffix("cell A1: its type 'q' is unknown"))
    }

    @Test(arguments: [false, true]) func datesOfBothEpochs(isFrom1904: Bool) throws {
        let days: [(number: String, from1900: String, from1904: String)] = [
            ("0", "1899-12-31", "1904-01-01"), ("1", "1900-01-01", "1904-01-02"), ("59", "1900-02-28", "1904-02-29"),
            ("60", "1900-02-29", "1904-03-01"), ("61", "1900-03-01", "1904-03-02"),
            ("36526", "2000-01-01", "2004-01-02"),
            ("46082", "2026-03-01", "2030-03-02"), ("46082.75", "2026-03-01", "2030-03-02"),
            ("45351", "2024-02-29", "2028-03-01"), ("2957003", "9995-12-30", "9999-12-31"),
            ("2958465", "9999-12-31", "2958465"), ("2958466", "2958466", "2958466"), ("-1", "-1", "-1"),
        ]
        let found = try column(
            days.map { " s=\"1\"><v>\($0.number)</v>" }, formats: ["yyyy-mm-dd"], isFrom1904: isFrom1904)
        #expect(found == days.map { isFrom1904 ? $0.from1904 : $0.from1900 })
    }

    @Test func theFormatDecides() throws {
        // 2026-03-01 14:30:05.250
        let number = "46082.6042274306"
        let formats: [(code: String, text: String)] = [
            ("dd.mm.yyyy", "2026-03-01"), ("[$-409]d mmmm, yyyy;@", "2026-03-01"), ("mmm", "2026-03-01"),
            ("m/d/yy h:mm", "2026-03-01T14:30:05"),
            ("yyyy\\-mm\\-dd&quot;T&quot;hh:mm:ss.000", "2026-03-01T14:30:05.250"),
            ("h:mm AM/PM", "14:30:05"), ("mm:ss.0", "14:30:05.250"), ("[h]:mm:ss", "1105982:30:05"),
            ("[Red]General", "46082.6042274306"), ("#,##0.00 &quot;d&quot;", "46082.6042274306"),
            ("0.00E+00", "46082.6042274306"), ("_-* #,##0.00\\ [$€-407]_-", "46082.6042274306"),
            ("0;[h]", "46082.6042274306"), ("mmm h", "2026-03-01T14:30:05"), ("[$-411]ge.m.d", "2026-03-01"),
            ("@", "46082.6042274306"),
        ]
        let cells = formats.indices.map { " s=\"\($0 + 1)\"><v>\(number)</v>" }
        #expect(try column(cells, formats: formats.map(\.code)) == formats.map(\.text))
        // A time with few digits is not a millisecond off.
        #expect(
            try column([" s=\"1\"><v>45000.4583333</v>", " s=\"1\"><v>45000.99999999</v>"], formats: ["d.m.yy h:mm"])
                == ["2023-03-15T11:00:00", "2023-03-16T00:00:00"])
        let builtIn: [(number: Int, format: CellFormat)] = [
            (0, .number), (2, .number), (14, .date), (20, .time(hasFraction: false)),
            (22, .dateTime(hasFraction: false)),
            (46, .elapsed(hasFraction: false)), (47, .time(hasFraction: true)), (49, .number), (57, .date),
        ]
        for (number, format) in builtIn { #expect(CellFormat(builtIn: number) == format, "\(number)") }
    }

    // MARK: - Refusals

    @Test func otherBodiesAreRefused() throws {
        let compound: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1] + [UInt8](repeating: 0, count: 5_000)
        #expect(
            refusal(compound)
                == "the body is a workbook of an old kind (.xls), not .xlsx; save it as an Excel workbook (.xlsx), or as CSV"
        )
        let encrypted = compound + "EncryptedPackage".utf8.flatMap { [$0, 0] }
        for pieces in [7, 100, .max] {
            let error = #expect(throws: DocumentError.self) { try recorder(encrypted, pieces: pieces) }
            #expect(error?.description == "the workbook is encrypted; save it without a password")
        }
        #expect(
            refusal(Array("sku;price\n1;2\n".utf8))
                == "the body begins with 'sku;price', and is no workbook (.xlsx), which is a ZIP archive")
        #expect(refusal([]) == "the body is empty, and no workbook")
        #expect(refusal(Array("<!DOCTYPE html><html></html>".utf8)).contains("the body is an HTML page"))
        #expect(
            refusal(Zip.archive([.init(name: "a.xlsx", content: "x")]))
                == "the body is a ZIP archive, but no workbook: nothing in it names a main part; if it holds workbooks, set "
                + "documents = \"*.xlsx\"")
        var binary = Workbook("")
        binary.others["_rels/.rels"] = binary.members["_rels/.rels"]?.replacing("workbook.xml", with: "workbook.bin")
        #expect(
            refusal(binary) == "the body is a binary workbook (.xlsb); save it as an Excel workbook (.xlsx)")
        var text = Workbook("")
        text.others["xl/workbook.xml"] = "<w:document xmlns:w=\"w\"/>"
        #expect(refusal(text) == "the body is no workbook: its main part is 'xl/workbook.xml'")
    }

    @Test func damagedWorkbooksAreRefused() throws {
        let whole = Workbook(Workbook.rows([["a"], ["1"]]))
        #expect(refusal(Array(whole.bytes.dropLast(30))) == "the ZIP archive ended before its last byte")
        var broken = whole
        broken.others["xl/worksheets/sheet1.xml"] = "<worksheet><sheetData><row></sheetData></worksheet>"
        let error = refusal(broken)
        #expect(error.hasPrefix("the sheet 'Sheet1' of the workbook: line 1, column "), "\(error)")
        broken = whole
        broken.others["xl/styles.xml"] = "<styleSheet>"
        #expect(refusal(broken).hasPrefix("the part 'xl/styles.xml' of the workbook: line 1"))
        // Entities within entities are not expanded without end.
        broken = whole
        let entities = (1...9).map { "<!ENTITY e\($0) \"\(String(repeating: "&e\($0 - 1);", count: 10))\">" }
        broken.others["xl/sharedStrings.xml"] =
            "<!DOCTYPE sst [<!ENTITY e0 \"xxxxxxxxxx\">\(entities.joined())]><sst><si><t>&e9;</t></si></sst>"
        #expect(refusal(broken).hasPrefix("the part 'xl/sharedStrings.xml' of the workbook: "))
        broken = whole
        broken.formats = [String](repeating: "0", count: 70_000)
        #expect(
            refusal(broken)
                == "the part 'xl/styles.xml' of the workbook: the workbook has more than 65536 styles of cells")
    }

    @Test func aCellHasOneValue() {
        for cell in ["<c t=\"str\"><v>a</v><v>b</v></c>", "<c t=\"inlineStr\"><is><t>a</t></is><is><t>b</t></is></c>"] {
            let error = refusal(Workbook(.init("S", "<row>\(cell)</row>")))
            #expect(error.hasSuffix("cell A1: it has two values"), "\(error)")
        }
    }

    @Test func theRunsOfATextHaveALimit() {
        var workbook = Workbook(.init("S", "<row><c t=\"s\"><v>0</v></c></row>"))
        let run = "<r><t>" + String(repeating: "x", count: 6 << 20) + "</t></r>"
        workbook.strings = [run + run + run]
        #expect(refusal(workbook).hasSuffix("a text is longer than 16 MiB"))
    }

    /// The limit counts what is unpacked, all parts together.
    @Test func bombsAreRefused() throws {
        var bomb = Workbook(Workbook.rows([["a"], ["1"]]))
        bomb.others["xl/worksheets/sheet1.xml"] =
            "<worksheet><sheetData>" + String(repeating: " ", count: 3 << 20) + "</sheetData></worksheet>"
        #expect(bomb.bytes.count < 100_000)
        #expect(
            refusal(bomb.bytes, limit: 1 << 20)
                == "the archive, unpacked, is larger than max_body, 1 MiB; raise max_body")
        bomb.others["xl/sharedStrings.xml"] = "<sst>" + String(repeating: " ", count: 3 << 20) + "</sst>"
        #expect(refusal(bomb.bytes, limit: 5 << 20).contains("larger than max_body, 5 MiB"))
        #expect(refusal(bomb.bytes, limit: 8 << 20).contains("no header"))
    }

    /// The body is an archive whatever says so: the declaration, the media type or the suffix of the name.
    @Test func theMediaTypeAndTheSuffixShowIt() throws {
        let bytes = Workbook(Workbook.rows([["a"], ["1"]])).bytes
        for (type, name) in [
            (FeedResponse.workbookType, "/prices"), ("application/octet-stream", "/Prices.XLSX?day=1"),
            ("application/vnd.ms-excel", "/prices.xlsx"), ("application/zip", "/prices.xlsx"),
        ] {
            let response = FeedResponse(
                requestedURL: "http://feeds.example\(name)", url: "http://feeds.example\(name)", status: 200,
                headers: [("Content-Type", type)], fetchedAt: Date(timeIntervalSince1970: 0), validators: Validators())
            let recorder = MarkupRecorder()
            let reader = try BodyReader(response, [recorder], limit: 1 << 20)
            try bytes.withUnsafeBytes { try reader.read($0) }
            try reader.finish()
            #expect(recorder.markup == Self.rows("<a>1</a>"), "\(type) \(name)")
        }
        // Nothing says it.
        let response = FeedResponse(
            requestedURL: "", url: "", status: 200, headers: [], fetchedAt: Date(timeIntervalSince1970: 0),
            validators: Validators())
        let reader = try BodyReader(response, [], limit: 1 << 20)
        let error = #expect(throws: FetchError.self) {
            try bytes.withUnsafeBytes { try reader.read($0) }
            try reader.finish()
        }
        #expect(error?.description.contains("a workbook; set format = \"xlsx\"") == true)
    }
}
