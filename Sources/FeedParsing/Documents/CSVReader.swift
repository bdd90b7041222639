import FeedConfiguration
import FeedModel
import Foundation
import XMLStream

/// Reads CSV (RFC 4180) while it arrives: the document is the element `csv`, a line the element `row`, and a field the
/// element that the header names. Fields are passed on where they lie, unless a quote or a line break is in them.
///
/// Beyond RFC 4180: the delimiter, the quote and the encoding may be others; lines may end in CR, LF or both; empty
/// lines are skipped, as are spaces around a quoted field; a quote within a field that does not begin with one is a
/// character like others. A line with more or fewer fields than the header is refused, or skipped where the dialect says so.
final class CSVReader: DocumentReader {
    /// The most bytes of a field, in UTF-8, and of the first line where it only shows how many columns there are.
    static let fieldLimit = 16 << 20

    enum State {
        /// Within the lines before the header.
        case skipping
        case rowStart, fieldStart, unquoted, quoted
        /// Directly after a quote that ends a field, or is the first of two.
        case quote
        /// After a quoted field.
        case quotedEnd
        /// Within the rest of a line that is skipped.
        case rejected
    }

    private let dialect: CSVDialect
    let delimiter: UInt8
    /// 0xFF, which no text in UTF-8 has, where no field is quoted.
    let quote: UInt8
    private var decoder: TextDecoder?
    @exclusivity(unchecked) private var rows: RowElements
    private var width: Int { rows.width }
    /// The fields of the line that names the columns, or shows how many there are; nil once it is complete.
    @exclusivity(unchecked) private var header: [String]? = []
    private var headerBytes = 0

    // `@exclusivity(unchecked)`: used by the run's executor only, several times a field.
    @exclusivity(unchecked) var state = State.rowStart
    @exclusivity(unchecked) private var column = 0
    @exclusivity(unchecked) var line = 1
    /// The line on which the record begins.
    @exclusivity(unchecked) var rowLine = 1
    @exclusivity(unchecked) var quoteLine = 1
    @exclusivity(unchecked) var linesToSkip: Int
    /// True directly after a carriage return, with which a line feed is one line end.
    @exclusivity(unchecked) var isAfterReturn = false
    /// The bytes so far of a field that does not lie in one piece.
    @exclusivity(unchecked) var field: [UInt8] = []
    /// The fields of a line that may still be skipped; nil where none is.
    @exclusivity(unchecked) var waiting: WaitingLine?

    /// - Parameter stream: the parser that receives the document. It must get no other input.
    init(_ stream: XMLStreamParser, _ dialect: CSVDialect) throws {
        self.dialect = dialect
        rows = try RowElements(stream)
        delimiter = dialect.delimiter ?? UInt8(ascii: ",")
        quote = dialect.quote ?? 0xFF
        linesToSkip = dialect.skip
        if linesToSkip > 0 { state = .skipping }
        if dialect.skipsMalformed { waiting = WaitingLine() }
    }

    /// - Throws: ``DocumentError`` with the line that is not CSV; also the errors of the parser.
    func read(_ bytes: UnsafeRawBufferPointer) throws {
        var text = bytes.bindMemory(to: UInt8.self)
        if decoder == nil {
            let (decoder, mark) = try locating { try TextDecoder.make(encoding: dialect.encoding, start: text) }
            self.decoder = decoder
            text = UnsafeBufferPointer(rebasing: text[mark...])
            try begin()
        }
        try locating { try decoder?.decode(text) { try scan($0) } }
    }

    func finish() throws {
        if decoder == nil { try read(UnsafeRawBufferPointer(start: nil, count: 0)) }
        try locating { try decoder?.finish { try scan($0) } }
        switch state {
        case .skipping, .rowStart: break
        case .quoted:
            throw problem("the body ends within a quoted field, which begins on line \(quoteLine)", at: line)
        case .fieldStart, .unquoted, .quote, .quotedEnd:
            try endGatheredField()
            try endRow()
        case .rejected: try endRejectedLine()
        }
        if header != nil {
            guard dialect.header != .line else {
                throw DocumentError(
                    dialect.skip == 0
                        ? "the body has no header"
                        : "the body ends before line \(dialect.skip + 1), which is declared as its header; see 'csv.skip'"
                )
            }
            header = nil
        }
        try rows.end(line: line)
    }

    private func begin() throws {
        try rows.begin()
        if case .names(let names) = dialect.header {
            header = nil
            try rows.take(columns: names)
        }
    }

    // MARK: - Records

    func beginRow() throws {
        isAfterReturn = false
        state = .fieldStart
        rowLine = line
        column = 0
        if header == nil, waiting == nil { try rows.beginRow(line: rowLine) }
    }

    /// Continues after the character that ends a field.
    @inline(__always)
    func end(_ byte: UInt8) throws {
        state = .fieldStart
        guard byte != delimiter else { return }
        endLine(byte)
        try endRow()
    }

    func endGatheredField() throws {
        var text: [UInt8] = []
        swap(&text, &field)
        let isPlain = !text.contains { $0 < 0x20 }
        try text.withUnsafeBufferPointer { try endField($0, isPlain: isPlain) }
        // A buffer that has grown long is released.
        text.removeAll(keepingCapacity: text.capacity <= 64 << 10)
        swap(&text, &field)
    }

    /// - Parameter isPlain: true if the text has no control character.
    @inline(__always)
    func endField(_ text: UnsafeBufferPointer<UInt8>, isPlain: Bool) throws {
        guard header == nil else { return try endHeaderField(text) }
        guard column < width else {
            if waiting != nil {
                column += 1
                return
            }
            let title = width == 1 ? "; if lines stand above the header, set csv.skip to their number" : ""
            throw problem("there are more fields than the \(width) \(expected); \(advice)\(title)", at: rowLine)
        }
        if isPlain { try emit(text) } else { try emit(replaced(text)) }
    }

    @inline(__always)
    private func emit(_ text: UnsafeBufferPointer<UInt8>) throws {
        let place = column
        column = place + 1
        guard waiting == nil else {
            guard waiting?.add(text) == true else {
                throw problem("the line is longer than \(ByteSize.text(Self.fieldLimit))", at: rowLine)
            }
            return
        }
        try rows.field(place, text, line: rowLine)
    }

    private func emit(_ text: [UInt8]) throws { try text.withUnsafeBufferPointer { try emit($0) } }

    private func endHeaderField(_ text: UnsafeBufferPointer<UInt8>) throws {
        headerBytes += text.count
        guard dialect.header != .line || text.count <= CSVColumns.nameLimit else {
            throw problem("the name of column \(column + 1) is longer than \(CSVColumns.nameLimit) bytes", at: rowLine)
        }
        guard headerBytes <= Self.fieldLimit else {
            throw problem("the first line is longer than \(ByteSize.text(Self.fieldLimit))", at: rowLine)
        }
        header?.append(String(decoding: try replaced(text), as: UTF8.self))
        column += 1
        guard column <= CSVColumns.limit else {
            throw problem("there are more than \(CSVColumns.limit) columns", at: rowLine)
        }
    }

    private func endRow() throws {
        state = .rowStart
        if let first = header {
            header = nil
            guard case .none = dialect.header else { return try rows.take(columns: first) }
            try rows.take(columns: first.map { _ in "" })
            if waiting == nil { try rows.beginRow(line: rowLine) }
            column = 0
            for text in first { try emit(Array(text.utf8)) }
        }
        guard column == width else {
            let problem = problem(
                "there \(column == 1 ? "is 1 field" : "are \(column) fields"), not the \(width) \(expected); \(advice)",
                at: rowLine)
            guard waiting != nil else { throw problem }
            waiting?.problem = problem
            return try endRejectedLine()
        }
        if waiting != nil {
            try rows.beginRow(line: rowLine)
            try waiting?.forEachField { try rows.field($0, $1, line: rowLine) }
            waiting?.removeFields()
        }
        try rows.endRow(line: rowLine)
    }

    /// Continues with the rest of a line that is skipped.
    ///
    /// - Returns: false where it must be refused.
    func reject(_ problem: DocumentError) -> Bool {
        guard waiting != nil, header == nil else { return false }
        waiting?.problem = problem
        field.removeAll()
        state = .rejected
        return true
    }

    /// Passes on a line that is skipped.
    func endRejectedLine() throws {
        state = .rowStart
        guard let (text, problem) = waiting?.takeRejected() else { return }
        try rows.reject(text, reason: problem.description)
    }

    private var expected: String {
        switch dialect.header {
        case .line: "of the header"
        case .none: "of the first line"
        case .names: "that 'header' names"
        }
    }

    private var advice: String { "a delimiter or a line break within a field must be in quotes" }

    /// Returns the text with U+FFFD in place of the characters that XML cannot hold, as JSON has it.
    private func replaced(_ text: UnsafeBufferPointer<UInt8>) throws -> [UInt8] {
        guard !text.contains(0) else {
            throw problem(
                "there is a NUL character; name the encoding that the body is in, such as csv = { encoding = \"UTF-16LE\" }",
                at: rowLine)
        }
        return XMLText.replacingForbidden(in: text)
    }

    // MARK: - Errors

    @discardableResult
    private func locating<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as TextDecoder.Problem {
            var problem = problem(
                "\(error.description); name the encoding that the body is in, such as csv = { encoding = \"windows-1252\" }",
                at: line)
            problem.isEncoding = true
            throw problem
        }
    }

    func problem(_ message: String, at line: Int) -> DocumentError {
        DocumentError("line \(line) of the CSV body: \(message)")
    }
}
