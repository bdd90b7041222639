/// Workbooks in Office Open XML, as spreadsheet programs write them.
package struct Workbook {
    package struct Sheet {
        package var name: String
        /// The content of `sheetData`.
        package var rows: String
        /// Further attributes in the list of sheets.
        package var attributes = ""
        /// The content before `sheetData`.
        package var before = ""
        package var type = "worksheet"

        package init(_ name: String, _ rows: String, attributes: String = "", before: String = "") {
            (self.name, self.rows, self.attributes, self.before) = (name, rows, attributes, before)
        }
    }

    package var sheets: [Sheet]
    /// The shared texts, each the content of `si`.
    package var strings: [String] = []
    /// The codes of the formats of numbers. Style 0 is a plain number, style n has the code n-1.
    package var formats: [String] = []
    package var isFrom1904 = false
    /// True for the namespaces of the strict form.
    package var isStrict = false
    /// The order of the members whose names contain these words; others come behind.
    package var order: [String] = []
    /// Members in place of those of the same name.
    package var others: [String: String] = [:]

    package init(_ sheets: Sheet...) { self.sheets = sheets }

    /// A workbook with one sheet that has these rows.
    package init(_ rows: String) { sheets = [Sheet("Sheet1", rows)] }

    private var main: String {
        isStrict
            ? "http://purl.oclc.org/ooxml/spreadsheetml/main"
            : "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    }

    private var links: String {
        isStrict
            ? "http://purl.oclc.org/ooxml/officeDocument/relationships"
            : "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    }

    private static let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"

    private func link(_ id: String, _ type: String, _ target: String) -> String {
        "<Relationship Id=\"\(id)\" Type=\"\(links)/\(type)\" Target=\"\(target)\"/>"
    }

    private func relationships(_ links: String) -> String {
        Self.head
            + "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\(links)</Relationships>"
    }

    /// The members by their names.
    package var members: [String: String] {
        var members: [String: String] = [:]
        members["_rels/.rels"] = relationships(link("rId1", "officeDocument", "xl/workbook.xml"))
        var parts = link("s1", "sharedStrings", "sharedStrings.xml") + link("s2", "styles", "/xl/styles.xml")
        var list = ""
        for (index, sheet) in sheets.enumerated() {
            // The numbers in the names are not the order of the sheets.
            let number = sheets.count - index
            parts += link("rId\(number)", sheet.type, "worksheets/sheet\(number).xml")
            list +=
                "<sheet name=\"\(sheet.name)\" sheetId=\"\(index + 1)\" \(sheet.attributes) r:id=\"rId\(number)\"/>"
            members["xl/worksheets/sheet\(number).xml"] =
                Self.head
                + "<worksheet xmlns=\"\(main)\">\(sheet.before)<sheetData>\(sheet.rows)</sheetData></worksheet>"
        }
        members["xl/_rels/workbook.xml.rels"] = relationships(parts)
        members["xl/workbook.xml"] =
            Self.head + "<workbook xmlns=\"\(main)\" xmlns:r=\"\(links)\">"
            + "<workbookPr\(isFrom1904 ? " date1904=\"1\"" : "")/><sheets>\(list)</sheets></workbook>"
        members["xl/sharedStrings.xml"] =
            Self.head + "<sst xmlns=\"\(main)\">" + strings.map { "<si>\($0)</si>" }.joined() + "</sst>"
        let codes = formats.enumerated().map { index, code in
            "<numFmt numFmtId=\"\(164 + index)\" formatCode=\"\(code)\"/>"
        }
        let styles = formats.indices.map { "<xf numFmtId=\"\(164 + $0)\"/>" }
        members["xl/styles.xml"] =
            Self.head + "<styleSheet xmlns=\"\(main)\"><numFmts>\(codes.joined())</numFmts>"
            + "<cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs>"
            + "<cellXfs><xf numFmtId=\"0\"/>\(styles.joined())</cellXfs></styleSheet>"
        return members.merging(others) { $1 }
    }

    /// The file.
    package var bytes: [UInt8] {
        func place(_ name: String) -> Int { order.firstIndex(where: name.contains) ?? order.count }
        let names = members.keys.sorted { (place($0), $0) < (place($1), $1) }
        return Zip.archive(names.map { Zip.File(name: $0, content: members[$0] ?? "") })
    }

    // MARK: - Cells

    /// Rows with the values as texts in the cells, from the first row. Empty texts have no cell.
    package static func rows(_ rows: [[String]]) -> String {
        rows.enumerated().map { index, values in
            let cells = values.enumerated().filter { !$0.element.isEmpty }.map { column, value in
                "<c r=\"\(letter(column))\(index + 1)\" t=\"inlineStr\"><is><t>\(value)</t></is></c>"
            }
            return "<row r=\"\(index + 1)\">\(cells.joined())</row>"
        }.joined()
    }

    private static func letter(_ column: Int) -> String {
        String(UnicodeScalar(UInt8(ascii: "A") + UInt8(column)))
    }
}
