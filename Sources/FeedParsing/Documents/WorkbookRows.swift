import FeedConfiguration
import FeedModel
import XMLStream

/// Passes on the rows of a sheet by the rules of CSV: the first one with a value names the columns, and rows without a value
/// are skipped.
final class WorkbookRows {
    private let dialect: WorkbookDialect
    // `@exclusivity(unchecked)`: used by the run's executor only, several times a cell.
    @exclusivity(unchecked) private var rows: RowElements
    /// The width that the sheet gives; 0 without one that is of use.
    private var declared = 0
    /// The values of the row that names the columns, or shows how many there are; nil once it is complete.
    @exclusivity(unchecked) private var header: [(text: String, isNumber: Bool)]? = []
    private var headerBytes = 0
    /// The row that names the columns; 0 without one.
    private var headerRow = 0
    /// The number of fields of the present row that have been passed on; nil before its first value.
    @exclusivity(unchecked) private var next: Int?
    @exclusivity(unchecked) private var line = 1

    init(_ rows: consuming RowElements, _ dialect: WorkbookDialect) {
        self.rows = rows
        self.dialect = dialect
    }

    func begin() throws {
        try rows.begin()
        guard case .names(let names) = dialect.header else { return }
        header = nil
        try rows.take(columns: names)
    }

    /// Takes the width of the sheet, before its first cell, where the sheet gives it.
    // A sheet whose whole columns have a style gives all of them.
    func width(_ columns: Int) { declared = columns <= CSVColumns.limit ? columns : 0 }

    /// Takes a cell that has a value. They come row by row, in each row from the left.
    ///
    /// - Parameters:
    ///   - row: the number of the row, counted from 1.
    ///   - column: the position of the column, counted from 0.
    ///   - text: the value, not empty; valid only during the call.
    ///   - isNumber: true for a number, false for a text that may look like one.
    func cell(row: Int, column: Int, _ text: UnsafeBufferPointer<UInt8>, isNumber: Bool) throws {
        guard row > dialect.skip else { return }
        line = row
        if header != nil { return try gather(text, column, isNumber) }
        guard column < rows.width else {
            // Nobody sees spaces beside a table.
            guard text.allSatisfy(isXMLSpace) else { throw beyond(column) }
            return
        }
        if next == nil { try rows.beginRow(line: row) }
        try fill(to: column)
        try field(column, text, isNumber)
        next = column + 1
    }

    private func field(_ column: Int, _ text: UnsafeBufferPointer<UInt8>, _ isNumber: Bool) throws {
        if isNumber {
            try rows.number(column, text, line: line)
        } else {
            try rows.field(column, text, line: line)
        }
    }

    /// Takes the end of each row that the sheet has.
    func endRow(_ row: Int) throws {
        guard let header else {
            guard next != nil else { return }
            try fill(to: rows.width)
            next = nil
            return try rows.endRow(line: row)
        }
        guard !header.isEmpty else { return }
        self.header = nil
        headerRow = row
        guard case .none = dialect.header else { return try rows.take(columns: header.map(\.text)) }
        let width = max(header.count, declared)
        try rows.take(columns: [String](repeating: "", count: width))
        try rows.beginRow(line: row)
        next = 0
        for (column, cell) in header.enumerated() {
            var text = cell.text
            try text.withUTF8 { try field(column, $0, cell.isNumber) }
            next = column + 1
        }
        try endRow(row)
    }

    /// - Throws: ``DocumentError`` if there is no header.
    func end() throws {
        if header != nil, dialect.header == .line {
            throw WorkbookProblem(
                description: dialect.skip == 0
                    ? "it has no value, and so no header"
                    : "it has no value below row \(dialect.skip), and so no header; see 'xlsx.skip'")
        }
        try rows.end(line: line)
    }

    /// Passes on the cells without a value up to a column.
    private func fill(to column: Int) throws {
        var place = next ?? 0
        while place < column {
            try rows.field(place, UnsafeBufferPointer(start: nil, count: 0), line: line)
            place += 1
        }
    }

    private func gather(_ text: UnsafeBufferPointer<UInt8>, _ column: Int, _ isNumber: Bool) throws {
        guard !text.allSatisfy(isXMLSpace) else { return }
        guard column < CSVColumns.limit else {
            throw problem(column, "there are more than \(CSVColumns.limit) columns")
        }
        headerBytes += text.count
        guard dialect.header != .line || text.count <= CSVColumns.nameLimit else {
            throw problem(column, "the name of the column is longer than \(CSVColumns.nameLimit) bytes")
        }
        guard headerBytes <= CSVReader.fieldLimit else {
            throw problem(column, "the first row is longer than \(ByteSize.text(CSVReader.fieldLimit))")
        }
        while let count = header?.count, count < column { header?.append(("", false)) }
        header?.append((String(decoding: text, as: UTF8.self), isNumber))
    }

    private func beyond(_ column: Int) -> WorkbookProblem {
        let width = rows.width
        let columns = "\(width) column\(width == 1 ? "" : "s")"
        let (found, advice) =
            switch dialect.header {
            case .line:
                (
                    "of the header, row \(headerRow)",
                    "if that is a title, set xlsx = { skip = \(headerRow) }; or name every column, in the sheet or by 'header'"
                )
            case .none: ("of the first row", "name every column by xlsx = { header = [\"…\"] }")
            case .names: ("that 'header' names", "name every column")
            }
        return problem(column, "it is right of the \(columns) \(found); \(advice)")
    }

    private func problem(_ column: Int, _ message: String) -> WorkbookProblem {
        WorkbookProblem(description: "cell \(SheetHandler.name(ofColumn: column))\(line): \(message)")
    }
}
