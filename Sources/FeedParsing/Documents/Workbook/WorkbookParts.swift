import XMLStream

/// Reads the relationships of a part to others (ISO/IEC 29500-2, section 8).
final class RelationshipsHandler: XMLStreamHandler {
    struct Relationship {
        /// The last word of the type's address: `worksheet`.
        var type: String
        var target: String
        var isExternal: Bool
        /// The number of relationships before it.
        var position: Int
    }

    /// The most bytes of all relationships that are kept.
    private static let limit = 4 << 20

    /// By their identifiers.
    private(set) var all: [String: Relationship] = [:]
    private var bytes = 0

    /// Returns the target of the first relationship of a type; nil without one in the workbook.
    func target(ofType type: String) -> String? {
        all.values.filter { $0.type == type && !$0.isExternal }.min { $0.position < $1.position }?.target
    }

    override func didStartElement(in stream: XMLStreamParser) throws {
        guard stream.depth == 2, stream.localName == "Relationship" else { return }
        let attributes = stream.attributesOfElement
        guard let id = attributes["Id"], let type = attributes["Type"], let target = attributes["Target"] else {
            return
        }
        // Others, such as pictures and links, are not read.
        let name = type.split(separator: "/").last.map(String.init) ?? ""
        guard Self.known.contains(name) else { return }
        bytes += id.utf8.count + target.utf8.count + 64
        guard bytes <= Self.limit else {
            throw WorkbookProblem(description: "the workbook has too many sheets: their names of files exceed 4 MiB")
        }
        guard all[id] == nil else { return }
        all[id] = Relationship(
            type: name, target: target, isExternal: attributes["TargetMode"] == "External", position: all.count)
    }

    private static let known: Set = [
        "officeDocument", "worksheet", "chartsheet", "dialogsheet", "macrosheet", "xlMacrosheet", "sharedStrings",
        "styles",
    ]
}

/// Finds a sheet in the main part of a workbook (ISO/IEC 29500-1, section 18.2).
final class SheetsHandler: XMLStreamHandler {
    private let wanted: String?
    private let relationships: [String: RelationshipsHandler.Relationship]
    /// The first worksheet that is not hidden, where no sheet is wanted.
    private var visible: (id: String, name: String)?
    private var hidden: (id: String, name: String)?
    /// The names of the first worksheets.
    private(set) var names: [String] = []
    private(set) var count = 0
    /// True for a workbook that counts days from 1904-01-01.
    private(set) var isFrom1904 = false
    /// The local name of the root element.
    private(set) var root = ""
    /// What a sheet of the wanted name is instead of a worksheet.
    private(set) var otherType: String?

    /// - Parameter wanted: the name of the sheet; nil for the first one that is not hidden, or else the first.
    init(_ wanted: String?, _ relationships: [String: RelationshipsHandler.Relationship]) {
        self.wanted = wanted
        self.relationships = relationships
    }

    /// The sheet that is read, with its name; nil without one.
    var sheet: (part: RelationshipsHandler.Relationship, name: String)? {
        (visible ?? hidden).flatMap { found in relationships[found.id].map { ($0, found.name) } }
    }

    override func didStartElement(in stream: XMLStreamParser) {
        switch (stream.depth, stream.localName) {
        case (1, let name): root = name
        case (2, "workbookPr"):
            isFrom1904 = stream.attributesOfElement["date1904"].map { $0 == "1" || $0 == "true" } ?? false
        case (3, "sheet"): take(stream.attributesOfElement)
        default: break
        }
    }

    private func take(_ attributes: XMLAttributes) {
        let ids = attributes.all.filter { $0.name.local == "id" && $0.name.namespace != nil }
        guard let name = attributes["name"], let id = ids.first?.value, let part = relationships[id] else { return }
        let isWanted = wanted.map { $0.lowercased() == name.lowercased() } ?? true
        guard part.type == "worksheet" else {
            if isWanted, wanted != nil { otherType = part.type }
            return
        }
        count += 1
        if names.count < Self.mostNames { names.append(name) }
        guard isWanted else { return }
        let isHidden = wanted == nil && attributes["state"].map { $0 != "visible" } ?? false
        if isHidden { hidden = hidden ?? (id, name) } else { visible = visible ?? (id, name) }
    }

    /// The most names for a message.
    private static let mostNames = 20
}

/// Reads how the styles of cells show numbers (ISO/IEC 29500-1, section 18.8).
final class StylesHandler: XMLStreamHandler {
    /// The most styles of cells, and the most formats of numbers: about as many as spreadsheet programs allow.
    private static let limit = 65_536

    private var codes: [Int: CellFormat] = [:]
    private var numbers: [Int] = []
    private var section = ""

    /// The formats by the numbers of the styles.
    var formats: [CellFormat] { numbers.map { codes[$0] ?? CellFormat(builtIn: $0) } }

    override func didStartElement(in stream: XMLStreamParser) throws {
        if stream.depth == 2 { section = stream.localName }
        guard stream.depth == 3 else { return }
        let attributes = stream.attributesOfElement
        switch (section, stream.localName) {
        case ("numFmts", "numFmt"):
            guard let number = attributes["numFmtId"].flatMap({ Int($0) }) else { return }
            codes[number] = CellFormat(code: attributes["formatCode"] ?? "")
        case ("cellXfs", "xf"): numbers.append(attributes["numFmtId"].flatMap { Int($0) } ?? 0)
        default: return
        }
        guard codes.count <= Self.limit, numbers.count <= Self.limit else {
            throw WorkbookProblem(description: "the workbook has more than \(Self.limit) styles of cells")
        }
    }
}
