package import XMLStream

/// Finds the tables of an HTML page that have a header, and passes their rows to another handler as a document of its own:
/// each row is an element, and each of its cells an element with the name of its column.
///
/// A row of `<th>` before a table's rows is its header. The elements' names as written are their paths on the page, which
/// ``PathWriter`` writes. Tables within the cells of others are tables of their own.
package final class PageTables: XMLStreamHandler {
    /// The root of the document of rows. No element of a document has this name.
    static let rootName = "/"
    /// The most cells of a row that are columns.
    private static let mostCells = 1_900

    private struct Cell {
        let depth: Int
        let isHead: Bool
        /// The path from the row.
        let path: String
        var text: [UInt8] = []
    }

    private struct Table {
        let depth: Int
        /// The name of a table for the rows, and the path of the element.
        let name: String
        let path: String
        var header: [String] = []
        /// The names of the rows, by the elements around them.
        var rows: [String: XMLStreamParser.ElementName] = [:]
        /// The names of the cells, by their paths.
        var columns: [String: XMLStreamParser.ElementName] = [:]
        var section = ""
        var cells: [Cell] = []
    }

    private let rows: XMLStreamParser
    /// Kept here because the stream does not retain it.
    private let handler: XMLStreamHandler
    private var hasBegun = false
    private var tables: [Table] = []
    private var cells: [Cell] = []
    private var tail = XMLTextTail()

    /// - Parameter handlers: receive the rows.
    package init(_ handlers: [XMLStreamHandler]) {
        handler = XMLHandlerList.joining(handlers)
        rows = XMLStreamParser(handler: handler)
        super.init()
    }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        let name = stream.localName
        let isCell = name == "td" || name == "th"
        if !cells.isEmpty {
            cells[cells.count - 1].text += tail.takeBeforeElement(in: stream)
        } else if isCell {
            tail.begin(in: stream)
        }
        if name == "table" { tables.append(Self.table(stream)) }
        guard let table = tables.last else { return }
        if name == "tr" {
            tables[tables.count - 1].cells = []
            tables[tables.count - 1].section = stream.parentQualifiedName ?? ""
        } else if isCell {
            let position = table.cells.count { $0.isHead == (name == "th") } + 1
            cells.append(Cell(depth: stream.depth, isHead: name == "th", path: "string(\(name)[\(position)])"))
        }
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        if let cell = cells.last {
            cells[cells.count - 1].text += tail.takeRest(in: stream)
            if cell.depth == stream.depth, let ended = cells.popLast(), !tables.isEmpty {
                let isColumn = tables[tables.count - 1].cells.count < Self.mostCells
                if isColumn { tables[tables.count - 1].cells.append(ended) }
            }
        }
        if stream.localName == "tr" { try endRow(line: stream.line) }
        if tables.last?.depth == stream.depth { tables.removeLast() }
    }

    /// - Throws: ``InferenceError`` if no table has a header and a row.
    package override func didEndDocument() throws {
        guard hasBegun else {
            throw InferenceError(
                description: "the page has no table whose rows follow a header of <th>; declare the mapping of other "
                    + "elements yourself, as in Documentation/Recipes/html-table.md")
        }
        try rows.end(line: rows.line)
        try rows.finish()
    }

    private func endRow(line: Int) throws {
        guard var table = tables.popLast() else { return }
        defer { tables.append(table) }
        let cells = table.cells
        table.cells = []
        guard !cells.isEmpty else { return }
        if cells.allSatisfy(\.isHead) {
            // Of several lines of a header, the last one names each column.
            if table.columns.isEmpty, cells.count >= table.header.count {
                table.header = cells.map { String(decoding: $0.text, as: UTF8.self) }
            }
            return
        }
        guard !table.header.isEmpty else { return }
        if !hasBegun {
            hasBegun = true
            try rows.start(try rows.elementName(Self.rootName), line: line)
        }
        try rows.start(try row(&table), line: line)
        for (title, cell) in zip(table.header, cells) {
            let name = try column(title, cell, &table)
            try cell.text.withUnsafeBufferPointer { try rows.element(name, $0, line: line) }
        }
        try rows.end(line: line)
    }

    private func row(_ table: inout Table) throws -> XMLStreamParser.ElementName {
        if let known = table.rows[table.section] { return known }
        let path = table.path + (table.section == "table" ? "" : "/" + table.section) + "/tr"
        let name = try rows.elementName(table.name, written: Array(path.utf8))
        table.rows[table.section] = name
        return name
    }

    private func column(_ title: String, _ cell: Cell, _ table: inout Table) throws -> XMLStreamParser.ElementName {
        if let known = table.columns[cell.path] { return known }
        let words = title.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(200)
        let local = ElementNaming.name(words.isEmpty ? "column" : String(words))
        let name = try rows.elementName(local, written: Array(cell.path.utf8))
        table.columns[cell.path] = name
        return name
    }

    /// Returns the table that begins: its path is by its identifier, else by its classes, else from the root.
    private static func table(_ stream: XMLStreamParser) -> Table {
        let attributes = stream.attributesOfElement
        let id = attributes["id"].flatMap { $0.contains("'") || $0.isEmpty ? nil : $0 }
        let classes = (attributes["class"] ?? "").split(whereSeparator: \.isWhitespace).filter { !$0.contains("'") }
        let path =
            if let id {
                "table[@id='\(id)']"
            } else if !classes.isEmpty {
                "table" + classes.map { "[@class~='\($0)']" }.joined()
            } else {
                String(stream.path.dropFirst())
            }
        return Table(depth: stream.depth, name: id.map(ElementNaming.name) ?? "row", path: path)
    }
}
