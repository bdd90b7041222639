import XMLStream

/// Reads JSON Lines, a JSON value on each line, while it arrives: the document is the element `jsonl`, and a line's value
/// the element `row`, with what ``JSONReader`` makes of the value. Lines without a value are skipped.
final class JSONLinesReader: DocumentReader {
    private let values: JSONReader
    private let root: JSONReader.Name
    private var hasBegun = false

    /// - Parameter streams: the parsers that receive the document. They must get no other input.
    init(_ streams: [XMLStreamParser]) throws {
        root = try streams.names("jsonl")
        values = try JSONReader(streams, root: "row")
    }

    /// - Throws: ``DocumentError`` with the number of a line that is no JSON value; also the errors of the parsers.
    func read(_ bytes: UnsafeRawBufferPointer) throws {
        try begin()
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try values.read(UnsafeRawBufferPointer(rebasing: rest[..<end]))
            try values.endLine()
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        if !rest.isEmpty { try values.read(rest) }
    }

    func finish() throws {
        try begin()
        try values.endLine()
        for stream in values.streams { try stream.end(line: stream.line) }
    }

    private func begin() throws {
        guard !hasBegun else { return }
        hasBegun = true
        for (stream, name) in zip(values.streams, root) { try stream.start(name, line: 1) }
    }
}
