import FeedConfiguration
import FeedModel
import Foundation
import XMLStream

/// Reads a sheet of a workbook in Office Open XML (ISO/IEC 29500), with the elements that ``RowElements`` makes of its rows.
///
/// A workbook is a ZIP archive whose parts refer to one another, so it is kept until it has ended. Then its parts are read in
/// the order in which they need each other, each as a stream: the list of sheets, the styles, the shared texts, the sheet.
final class WorkbookReader: DocumentReader {
    private let stream: XMLStreamParser
    private let dialect: WorkbookDialect
    private let archive: any DocumentArchive
    private var start: [UInt8] = []
    /// True if the body is a compound file: an old or an encrypted workbook.
    private var isCompound = false
    private var isEncrypted = false
    /// The last bytes of a compound file so far, in which a name may begin.
    private var tail = Data()

    /// - Parameter stream: the parser that receives the rows. It must get no other input.
    init(_ stream: XMLStreamParser, _ dialect: WorkbookDialect, _ archive: any DocumentArchive) {
        self.stream = stream
        self.dialect = dialect
        self.archive = archive
    }

    /// - Throws: ``DocumentError`` if the body is no archive.
    func read(_ bytes: UnsafeRawBufferPointer) throws {
        if start.isEmpty {
            start = Array(bytes.prefix(40))
            isCompound = start.starts(with: [0xD0, 0xCF, 0x11, 0xE0])
            guard isCompound || start.starts(with: [0x50, 0x4B]) else { throw unlike(start) }
        }
        guard isCompound else { return try archive.append(bytes) }
        guard !isEncrypted else { return }
        let text = tail + Data(bytes)
        isEncrypted = text.range(of: Self.encryptedPackage) != nil
        tail = text.suffix(Self.encryptedPackage.count - 1)
    }

    /// The name of a stream that encrypted workbooks have (MS-OFFCRYPTO, section 2.3).
    private static let encryptedPackage = Data("EncryptedPackage".utf8.flatMap { [$0, 0] })

    /// Reads the sheet.
    ///
    /// - Throws: ``DocumentError`` if the workbook is damaged, encrypted or of another kind, or lacks the sheet; the errors of
    ///   the archive and of the parser.
    func finish() throws {
        guard !start.isEmpty else { throw unlike([]) }
        if isCompound {
            throw DocumentError(
                isEncrypted
                    ? "the workbook is encrypted; save it without a password"
                    : "the body is a workbook of an old kind (.xls), not .xlsx; save it as an Excel workbook (.xlsx), or as CSV"
            )
        }
        let main = try mainPart()
        let links = try relationships(of: main) ?? RelationshipsHandler()
        let sheets = SheetsHandler(dialect.sheet, links.all)
        guard try parse(main, sheets), sheets.root == "workbook" else {
            throw DocumentError("the body is no workbook: its main part is '\(main.shortened(to: 100))'")
        }
        guard let (sheet, name) = sheets.sheet else { throw missing(sheets) }
        guard !sheet.isExternal else {
            throw DocumentError(
                "the sheet '\(name)' is outside of the workbook, at '\(sheet.target.shortened(to: 200))', which is not fetched"
            )
        }
        let styles = StylesHandler()
        if let part = links.target(ofType: "styles") { try parse(Self.path(part, from: main), styles) }
        let strings = SharedStrings(folder: archive.folder)
        if let part = links.target(ofType: "sharedStrings") {
            try parse(Self.path(part, from: main), SharedStringsHandler(strings))
        }
        let part = Self.path(sheet.target, from: main)
        try locating("the sheet '\(name.shortened(to: 100))' of the workbook") {
            let rows = WorkbookRows(try RowElements(stream), dialect)
            try rows.begin()
            let handler = SheetHandler(rows, strings, styles.formats, isFrom1904: sheets.isFrom1904)
            guard try read(part, handler) else {
                throw WorkbookProblem(description: "its part '\(part.shortened(to: 100))' is missing")
            }
            try rows.end()
        }
    }

    // MARK: - Parts

    /// Returns the name of the part that lists the sheets.
    private func mainPart() throws -> String {
        guard let main = try relationships(of: "")?.target(ofType: "officeDocument") else {
            throw DocumentError(
                "the body is a ZIP archive, but no workbook: nothing in it names a main part; if it holds workbooks, set "
                    + "documents = \"*.xlsx\"")
        }
        guard !main.lowercased().hasSuffix(".bin") else {
            throw DocumentError("the body is a binary workbook (.xlsb); save it as an Excel workbook (.xlsx)")
        }
        return Self.path(main, from: "")
    }

    /// Returns the relationships of a part to others; nil if it has none.
    ///
    /// - Parameter part: its name; empty for the archive.
    private func relationships(of part: String) throws -> RelationshipsHandler? {
        let names = part.split(separator: "/")
        let path = names.dropLast().map(String.init) + ["_rels", (names.last ?? "") + ".rels"]
        let handler = RelationshipsHandler()
        return try parse(path.joined(separator: "/"), handler) ? handler : nil
    }

    /// Reads a part.
    ///
    /// - Returns: false without such a part.
    @discardableResult
    private func parse(_ part: String, _ handler: XMLStreamHandler) throws -> Bool {
        try locating("the part '\(part.shortened(to: 100))' of the workbook") { try read(part, handler) }
    }

    private func read(_ part: String, _ handler: XMLStreamHandler) throws -> Bool {
        let parser = XMLStreamParser(handler: handler)
        // The names of parts do not distinguish upper and lower case (ISO/IEC 29500-2, section 6.2).
        let wanted = part.lowercased()
        let isThere = try archive.read({ $0.replacing("\\", with: "/").lowercased() == wanted }) {
            try parser.parse($0)
        }
        if isThere { try parser.finish() }
        return isThere
    }

    /// - Throws: the errors of `body`; those of a part with its place in the workbook.
    private func locating<Value>(_ place: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error where error is XMLStreamError || error is WorkbookProblem {
            throw DocumentError("\(place): \(error)")
        }
    }

    /// Returns the name of a part from the target of a relationship, which is relative to the folder of another part.
    private static func path(_ target: String, from part: String) -> String {
        let target = target.replacing("\\", with: "/")
        var path = target.hasPrefix("/") ? [] : part.split(separator: "/").dropLast()
        for name in target.split(separator: "/") where name != "." {
            if name == ".." { _ = path.popLast() } else { path.append(name) }
        }
        return path.joined(separator: "/")
    }

    // MARK: - Errors

    private func missing(_ sheets: SheetsHandler) -> DocumentError {
        guard let wanted = dialect.sheet else { return DocumentError("the workbook has no sheet with cells") }
        if let type = sheets.otherType {
            return DocumentError("the sheet '\(wanted)' has no cells; it is a \(type)")
        }
        let names = sheets.names.map { "'\($0.shortened(to: 100))'" }.joined(separator: ", ")
        return DocumentError(
            "the workbook has no sheet '\(wanted)'; it has \(names.isEmpty ? "none with cells" : names)"
                + (sheets.count > sheets.names.count ? " and \(sheets.count - sheets.names.count) others" : "")
                + (nearestName(to: wanted, among: sheets.names).map { "; did you mean '\($0)'?" } ?? ""))
    }

    private func unlike(_ start: [UInt8]) -> DocumentError {
        DocumentError(
            start.isEmpty
                ? "the body is empty, and no workbook"
                : "the body begins with \(BodyStart.shown(start[...])), and is no workbook (.xlsx), which is a ZIP archive"
        )
    }
}
