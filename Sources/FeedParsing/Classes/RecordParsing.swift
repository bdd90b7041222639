public import FeedStore
package import XMLStream

/// A parser that is made of a record's type: see ``RecordParser``, which is the one there is.
public protocol RecordParsing: Sendable {
    /// Under which requests name it as their `parser`.
    var name: String { get }

    /// As ``FeedParser/version``.
    var version: Int { get }

    /// As ``FeedParser/tables``.
    var tables: [String] { get }

    /// What follows one document and inserts its records into a context. The engine calls it for each response.
    func _makeStream(context: WorkerContext) -> RecordStream
}

/// What follows one document for a ``RecordParsing``.
public struct RecordStream {
    package let handler: XMLStreamHandler

    package init(handler: XMLStreamHandler) { self.handler = handler }
}
