import FeedConfiguration
import XMLStream

/// Reads a worksheet (ISO/IEC 29500-1, section 18.3).
final class SheetHandler: XMLStreamHandler {
    private enum CellType {
        case number, shared, text, inline, boolean, error, date
    }

    /// The most columns of a sheet.
    private static let mostColumns = 16_384

    private let rows: WorkbookRows
    private let strings: SharedStrings
    private let formats: [CellFormat]

    // `@exclusivity(unchecked)`: used by the run's executor only, several times a cell.
    @exclusivity(unchecked) private var tags = WorkbookTags()
    @exclusivity(unchecked) private var numbers: CellText
    private var item = StringItem()
    private var text: [UInt8] = []

    private var isInData = false
    @exclusivity(unchecked) private var isInRow = false
    @exclusivity(unchecked) private var row = 0
    @exclusivity(unchecked) private var column = -1
    @exclusivity(unchecked) private var type = CellType.number
    /// True once the cell has a value.
    @exclusivity(unchecked) private var hasValue = false
    @exclusivity(unchecked) private var format = CellFormat.number

    init(_ rows: WorkbookRows, _ strings: SharedStrings, _ formats: [CellFormat], isFrom1904: Bool) {
        self.rows = rows
        self.strings = strings
        self.formats = formats
        numbers = CellText(isFrom1904: isFrom1904)
    }

    // MARK: - Elements

    override func didStartElement(in stream: XMLStreamParser) throws {
        let tag = tags.tag(of: stream)
        switch (stream.depth, tag) {
        case (2, .sheetData): isInData = true
        case (2, .dimension):
            // The last cell of the rectangle.
            let end = stream.attributesOfElement["ref"]?.split(separator: ":").last.map { Array($0.utf8) } ?? []
            if let last = end.withUnsafeBufferPointer({ Self.column(of: $0) }) { rows.width(last + 1) }
        case (3, .row) where isInData:
            isInRow = true
            try beginRow(stream.attributesOfElement)
        case (4, .c) where isInRow: try beginCell(stream.attributesOfElement)
        case (5, .is) where isInRow && type == .inline: item.begin(depth: 5)
        case (6..., _): item.didStart(tag, depth: stream.depth)
        default: break
        }
    }

    override func didEndElement(in stream: XMLStreamParser) throws {
        let tag = tags.tag(of: stream)
        switch (stream.depth, tag) {
        case (2, .sheetData): isInData = false
        case (3, .row) where isInRow:
            isInRow = false
            try rows.endRow(row)
        case (5, .v) where isInRow:
            try beginValue()
            try take(stream.textBytes)
        case (5, .is) where isInRow && type == .inline:
            try beginValue()
            try item.end { try emit($0) }
        case (6..., _): try item.didEnd(tag, stream)
        default: break
        }
    }

    /// - Throws: ``WorkbookProblem`` for a second value of a cell.
    private func beginValue() throws {
        guard !hasValue else { throw problem("it has two values") }
        hasValue = true
    }

    private func beginRow(_ attributes: XMLAttributes) throws {
        column = -1
        let number = attributes.withValue(of: "r") { Self.number($0) }
        guard let next = number ?? (row + 1), next > row else {
            throw WorkbookProblem(
                description: "after row \(row), a row has the number '\(attributes["r"] ?? "")', which is not larger")
        }
        row = next
    }

    private func beginCell(_ attributes: XMLAttributes) throws {
        var found: Int? = column + 1
        var style = 0
        type = .number
        hasValue = false
        try attributes.forEachNumbered { number, value in
            let name = attributes.name(number).qualified
            switch name {
            case "r": found = Self.column(of: value)
            case "s": style = Self.number(value) ?? 0
            case "t": type = try cellType(value)
            default: break
            }
        }
        guard let found, found > column, found < Self.mostColumns else {
            throw WorkbookProblem(
                description: "in row \(row), a cell has the place '\(attributes["r"] ?? "")', which is no place "
                    + "right of the cell before it")
        }
        column = found
        format = style < formats.count ? formats[style] : .number
    }

    private func cellType(_ written: UnsafeBufferPointer<UInt8>) throws -> CellType {
        switch String(decoding: written, as: UTF8.self) {
        case "n": .number
        case "s": .shared
        case "str": .text
        case "inlineStr": .inline
        case "b": .boolean
        case "e": .error
        case "d": .date
        case let other: throw problem("its type '\(other.shortened(to: 40))' is unknown")
        }
    }

    // MARK: - Values

    private func take(_ written: UnsafeBufferPointer<UInt8>) throws {
        guard !written.isEmpty else { return }
        switch type {
        case .number: try numbers.write(written, format) { try emit($0, isNumber: true) }
        case .shared:
            guard let number = Self.number(written), number < strings.count else {
                throw problem(
                    "it refers to the shared text '\(String(decoding: written, as: UTF8.self).shortened(to: 40))' of "
                        + "\(strings.count), counted from 0")
            }
            try strings.read(number) { try emit($0) }
        case .text:
            text.removeAll(keepingCapacity: text.capacity <= 64 << 10)
            EscapedText.append(written, to: &text)
            try text.withUnsafeBufferPointer { try emit($0) }
        case .boolean:
            switch written.first {
            case UInt8(ascii: "1") where written.count == 1: try emit("true")
            case UInt8(ascii: "0") where written.count == 1: try emit("false")
            default: try emit(written)
            }
        // The value that says that there is none.
        case .error where written.elementsEqual("#N/A".utf8): break
        case .error, .date: try emit(written)
        // The text is in another element.
        case .inline: break
        }
    }

    private func emit(_ text: StaticString) throws {
        try emit(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private func emit(_ text: UnsafeBufferPointer<UInt8>, isNumber: Bool = false) throws {
        if !text.isEmpty { try rows.cell(row: row, column: column, text, isNumber: isNumber) }
    }

    // MARK: - Places

    /// Returns a whole number of at most nine digits; nil for another text.
    private static func number(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        text.count <= 9 ? Lexical.integer(text, as: UInt32.self).map { Int($0) } : nil
    }

    /// Returns the column, counted from 0, of a place such as `AB12`; nil for another text.
    private static func column(of place: UnsafeBufferPointer<UInt8>) -> Int? {
        let letters = place.prefix { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
        guard !letters.isEmpty, letters.count <= 3 else { return nil }
        return letters.reduce(0) { $0 * 26 + Int($1 - UInt8(ascii: "A")) + 1 } - 1
    }

    /// Returns the name of a column, `AB` for the 28th.
    ///
    /// - Parameter column: counted from 0.
    static func name(ofColumn column: Int) -> String {
        var name = ""
        var rest = column + 1
        while rest > 0 {
            name = String(UnicodeScalar(UInt8(ascii: "A") + UInt8((rest - 1) % 26))) + name
            rest = (rest - 1) / 26
        }
        return name
    }

    private func problem(_ message: String) -> WorkbookProblem {
        WorkbookProblem(description: "cell \(Self.name(ofColumn: max(0, column)))\(row): \(message)")
    }
}
