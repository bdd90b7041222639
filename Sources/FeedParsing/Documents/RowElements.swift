import XMLStream

/// The elements that rows of fields become: `csv` around all of them, in it a `row` for each, and in that an element for each
/// field, named by its column.
struct RowElements: ~Copyable {
    static let rootName = "csv"
    static let rowName = "row"

    private let stream: XMLStreamParser
    /// The same without reference counts: it is called for each field.
    private let calls: Unmanaged<XMLStreamParser>
    private let root: XMLStreamParser.ElementName
    private let row: XMLStreamParser.ElementName
    private var names: UnsafeMutableBufferPointer<XMLStreamParser.ElementName>
    /// The number of columns; 0 until they are known.
    var width: Int { names.count }

    /// - Parameter stream: the parser that receives the elements. It must get no other input.
    init(_ stream: XMLStreamParser) throws {
        let (root, row) = (try stream.elementName(Self.rootName), try stream.elementName(Self.rowName))
        self.stream = stream
        calls = .passUnretained(stream)
        self.root = root
        self.row = row
        names = .allocate(capacity: 0)
    }

    deinit { names.deallocate() }

    func begin() throws { try stream.start(root, line: 1) }

    /// Names the columns.
    mutating func take(columns header: [String]) throws {
        let columns = CSVColumns.names(header)
        let known = try columns.map { try stream.elementName($0, written: Array($0.utf8)) }
        names.deallocate()
        names = .allocate(capacity: known.count)
        _ = names.initialize(from: known)
        try stream.header(columns)
    }

    func beginRow(line: Int) throws { try stream.start(row, line: line) }

    /// - Parameter column: the position of the field's column, counted from 0 and below ``width``.
    @inline(__always)
    func field(_ column: Int, _ text: UnsafeBufferPointer<UInt8>, line: Int) throws {
        try calls._withUnsafeGuaranteedRef { try $0.element(names[column], text, line: line) }
    }

    /// Passes on a field that is a number in the document's format.
    func number(_ column: Int, _ text: UnsafeBufferPointer<UInt8>, line: Int) throws {
        try calls._withUnsafeGuaranteedRef { try $0.number(names[column], text, line: line) }
    }

    func endRow(line: Int) throws { try stream.end(line: line) }

    /// Passes on a line that is no row.
    func reject(_ line: String, reason: String) throws { try stream.rejected(line: line, reason: reason) }

    func end(line: Int) throws { try stream.end(line: line) }
}
