package import XMLStream

/// What turns a response's body into staged rows, piece by piece.
package protocol BodyParser {
    /// The parsers of XML behind it, which are told of a body that is none.
    var streams: [XMLStreamParser] { get }

    func parse(_ bytes: UnsafeRawBufferPointer) throws

    /// The body has ended.
    func finish() throws
}

/// A body that is not the document that it was taken for.
package struct DocumentError: Error, CustomStringConvertible {
    package var description: String

    init(_ description: String) { self.description = description }
}
