package import FeedModel
package import XMLStream

/// A parser that turns a response's body into staged rows, piece by piece.
package protocol BodyParser {
    /// The XML parsers behind it. They also receive a body that is not XML.
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
    /// True if the bytes are not of the encoding that was declared or assumed.
    package var isEncoding = false

    init(_ description: String) { self.description = description }
}

/// Passes a body through the stream parser to any handler.
package final class StreamBodyParser: BodyParser {
    // Kept here because the stream does not retain it.
    private let handler: XMLStreamHandler
    private let stream: XMLStreamParser

    package init(_ handler: XMLStreamHandler, _ response: FeedResponse) {
        self.handler = handler
        stream = XMLStreamParser(response, handler: handler)
    }

    package var streams: [XMLStreamParser] { [stream] }

    package func parse(_ bytes: UnsafeRawBufferPointer) throws { try stream.parse(bytes) }

    package func finish() throws { try stream.finish() }
}

/// Passes a body to two parsers.
package final class TeeBodyParser: BodyParser {
    private let first: any BodyParser
    private let second: any BodyParser

    package init(_ first: any BodyParser, _ second: any BodyParser) {
        self.first = first
        self.second = second
    }

    package var streams: [XMLStreamParser] { first.streams + second.streams }

    package func parse(_ bytes: UnsafeRawBufferPointer) throws {
        try first.parse(bytes)
        try second.parse(bytes)
    }

    package func begin(columns: [String]) throws {
        try first.begin(columns: columns)
        try second.begin(columns: columns)
    }

    package func finish() throws {
        try first.finish()
        try second.finish()
    }
}
