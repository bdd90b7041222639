package import XMLStream

/// A parser that turns a response's body into staged rows, piece by piece.
package protocol BodyParser {
    /// The XML parsers of the body. Bodies in other formats are reported to them, too.
    var streams: [XMLStreamParser] { get }

    func parse(_ bytes: UnsafeRawBufferPointer) throws

    /// Called with the header of a body in CSV, before the first record.
    ///
    /// - Throws: an error if expected columns are missing.
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
