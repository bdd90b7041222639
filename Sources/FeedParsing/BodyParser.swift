package import XMLStream

/// A parser that turns a response's body into staged rows, piece by piece.
package protocol BodyParser {
    /// The XML parsers behind it. They also receive a body that is not XML.
    var streams: [XMLStreamParser] { get }

    func parse(_ bytes: UnsafeRawBufferPointer) throws

    /// Called when the header of a body in CSV is known, before its first record.
    ///
    /// - Throws: where the columns are not those that are expected.
    func begin(columns: [String]) throws

    /// Called when the body has ended.
    func finish() throws
}

extension BodyParser {
    package func begin(columns: [String]) throws {}
}

/// A body that is not the expected document.
package struct DocumentError: Error, CustomStringConvertible {
    package var description: String

    init(_ description: String) { self.description = description }
}
