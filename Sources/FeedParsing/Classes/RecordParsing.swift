public import FeedStaging
package import XMLStream

/// A parser made of a record type. ``RecordParser`` is the only one.
public protocol RecordParsing: Sendable {
    /// The name of the parser in the `parser` of requests.
    var name: String { get }

    /// The parser's version, as ``FeedParser/version``.
    var version: Int { get }

    /// The tables that the parser writes, as ``FeedParser/tables``.
    var tables: [String] { get }

    /// Creates a stream that reads one document and inserts its records into a context. The engine calls it for each
    /// response.
    func _makeStream(context: WorkerContext) -> RecordStream
}

/// A reader of one document for a ``RecordParsing``.
public struct RecordStream {
    package let handler: XMLStreamHandler

    package init(handler: XMLStreamHandler) { self.handler = handler }
}
