import XMLStream

/// What turns a response's body into staged rows, piece by piece.
protocol BodyParser {
    /// The parsers of XML behind it, which are told of a body that is none.
    var streams: [XMLStreamParser] { get }

    func parse(_ bytes: UnsafeRawBufferPointer) throws

    /// The body has ended.
    func finish() throws
}
